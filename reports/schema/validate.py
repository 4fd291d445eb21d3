#!/usr/bin/env python3
"""validate.py SCHEMA FILE...: exit 1 and a line for the first mistake of each file. A .jsonl file is
validated line by line. Needs the Debian package python3-jsonschema."""
import json
import sys

import jsonschema


def documents(name):
    with open(name, encoding="utf-8") as file:
        if not name.endswith(".jsonl"):
            yield name, json.load(file)
            return
        for number, line in enumerate(file, 1):
            yield f"{name}:{number}", json.loads(line)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    wrong = 0
    for name in sys.argv[2:]:
        for place, document in documents(name):
            error = jsonschema.exceptions.best_match(validator.iter_errors(document))
            if error is None:
                continue
            path = "/".join(str(step) for step in error.absolute_path)
            print(f"{place}: /{path}: {error.message[:300]}", file=sys.stderr)
            wrong = 1
            break
    return wrong


sys.exit(main())
