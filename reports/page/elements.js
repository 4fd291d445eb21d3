// Building the document. Text becomes text nodes and nothing else, so that no name of a kernel and
// no text of a file is ever read as markup.

/** element('td', {class: 'number', onclick: f}, 'text', child, [more]). */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(
    ...children
      .flat(Infinity)
      .filter((child) => isGiven(child))
      .map(asNode),
  );
  return made;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Text that only a screen reader says. */
function spoken(text) {
  return element('span', {class: 'spoken'}, text);
}

function code(text) {
  return isGiven(text) ? element('code', {}, text) : null;
}

/** A name that a user chose: on one line, cut where it is too long; the pointer shows all of it. */
function nameText(name) {
  return isGiven(name) ? element('span', {class: 'name', title: name}, name) : null;
}

/** A problem or a name that may be long: may break after any character of punctuation. */
function breakable(text) {
  const parts = String(text).split(/(?<=[,;\]}])/);
  return element(
    'code',
    {class: 'problem'},
    parts.map((part, i) => (i ? [element('wbr'), part] : part)),
  );
}

let announceTimer = 0;

/** Says a line in the corner of the page, and to screen readers. */
function announce(text) {
  const place = document.getElementById('announcement');
  place.textContent = text;
  place.classList.add('shown');
  clearTimeout(announceTimer);
  announceTimer = setTimeout(() => place.classList.remove('shown'), 4000);
}

/** Browsers without the clipboard interface, or that refuse it, still know the old command. */
function copyByCommand(text) {
  const field = element('textarea', {class: 'spoken', 'aria-hidden': 'true', tabindex: '-1'});
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return copied;
}

async function copyText(text) {
  let copied = false;
  try {
    await navigator.clipboard.writeText(text);
    copied = true;
  } catch {
    copied = copyByCommand(text);
  }
  announce(copied ? `Copied: ${text}` : `Cannot copy here: ${text}`);
}

/** A button that copies `text`; nothing where there is none. */
function copyButton(text, what = 'replay line') {
  if (!isGiven(text)) return null;
  const copy = (event) => {
    event.stopPropagation();
    copyText(text);
  };
  return element(
    'button',
    {
      type: 'button',
      class: 'copy',
      'aria-label': `Copy ${what}: ${text}`,
      title: text,
      onclick: copy,
    },
    'copy',
  );
}

/** A word of the verdicts with its colour; the word says it too. */
function statusMark(status) {
  return element('span', {class: `status status-${STATUS_CLASSES[status] ?? 'bad'}`}, status);
}

const STATUS_CLASSES = {
  ok: 'ok',
  passed: 'ok',
  weak: 'unsure',
  unproven: 'unsure',
  undecided: 'unsure',
  skipped: 'quiet',
  known: 'quiet',
};

/** A section of the page; `anchor` is also its id. */
function section(anchor, title, ...children) {
  const isEmpty = children.length === 1 && children[0].className === 'not-measured';
  return element(
    'section',
    {id: anchor, 'aria-labelledby': `${anchor}-title`, class: isEmpty ? 'empty-section' : null},
    element('h2', {id: `${anchor}-title`, tabindex: '-1'}, title),
    ...children,
  );
}

function notMeasured() {
  return element('p', {class: 'not-measured'}, 'not measured in this run');
}

/** Replaces what is inside. */
function fill(place, ...children) {
  place.replaceChildren(
    ...children
      .flat(Infinity)
      .filter((child) => isGiven(child))
      .map(asNode),
  );
  return place;
}
