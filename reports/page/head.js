// The verdict head: is it right, how far from perfect, where is it worst, is it worse than before.

const OUTCOMES = {
  passed: {word: 'Passed', kind: 'ok'},
  violated: {word: 'Violated', kind: 'bad'},
  undecided: {word: 'Undecided', kind: 'unsure'},
};

function fillHead(place, data) {
  const outcome = shownOutcome(data);
  place.className = `head head-${outcome.kind}`;
  document.title = `${outcome.word}: ${data.title ?? 'attest report'}`;
  fill(
    place,
    element('p', {class: 'title'}, data.title ?? 'attest report'),
    element(
      'h1',
      {},
      element('span', {class: 'verdict'}, outcome.word),
      spoken(': '),
      element('span', {class: 'outcome-line'}, outcomeFacts(data.outcome_line)),
    ),
    isGiven(data.reason) ? element('p', {class: 'reason'}, data.reason) : null,
    data.unfinished
      ? element(
          'p',
          {class: 'reason'},
          'This run did not finish. What it had found until then is below; it says nothing about the rest.',
        )
      : null,
    element('dl', {class: 'answers'}, answers(data).map(answerNodes)),
    element(
      'dl',
      {class: 'facts'},
      facts(data).map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value)),
      ),
    ),
  );
}

/** The line of the terminal without its first word, which stands before it larger. */
function outcomeFacts(line) {
  return String(line ?? '')
    .replace(/^[A-Z]+(\s+|$)/, '')
    .replace(/\s{2,}/g, ' \u00B7 ');
}

/** A killed run has no right to the word "passed". */
function shownOutcome(data) {
  if (data.unfinished && data.outcome !== 'violated') return {word: 'Unfinished', kind: 'unsure'};
  return OUTCOMES[data.outcome] ?? {word: String(data.outcome ?? 'No verdict'), kind: 'unsure'};
}

function answerNodes({question, answer, kind, details}) {
  return element(
    'div',
    {class: kind ? `answer answer-${kind}` : 'answer'},
    element('dt', {}, question),
    element('dd', {class: 'short'}, answer),
    details.filter(isGiven).map((line) => element('dd', {class: 'detail'}, line)),
  );
}

function answers(data) {
  return [rightAnswer(data), distanceAnswer(data), placeAnswer(data), historyAnswer(data)];
}

function totals(data) {
  const names = ['cases', 'ok', 'weak', 'unproven', 'skipped', 'known', 'violations'];
  const counts = Object.fromEntries(
    names.map((name) => [name, sumBy(data.laws, (law) => law[name] ?? 0)]),
  );
  counts.violations += sumBy(data.accuracy, (row) => row.violations);
  counts.outputs = sumBy(data.accuracy, (row) => row.outputs);
  return counts;
}

function rightAnswer(data) {
  const question = 'Is it right?';
  const counts = totals(data);
  const laws = distinct(data.laws.map((law) => law.law)).length;
  if (counts.cases === 0 && counts.outputs === 0) {
    return {
      question,
      answer: 'nothing checked',
      kind: 'unsure',
      details: ['No case finished in this run.'],
    };
  }
  const undecided = ['weak', 'unproven', 'skipped', 'known']
    .filter((name) => counts[name] > 0)
    .map((name) => `${countText(counts[name])} ${name}`);
  const details = [
    counts.cases > 0
      ? `${plural(counts.cases, 'case')} of ${plural(laws, 'law')}, ${countText(counts.ok)} ok`
      : null,
    counts.outputs > 0 ? `${plural(counts.outputs, 'output')} on tensors` : null,
    undecided.join(', '),
  ];
  if (counts.violations > 0)
    return {question, answer: plural(counts.violations, 'violation'), kind: 'bad', details};
  return {
    question,
    answer: data.outcome === 'passed' ? 'no violation' : 'not shown',
    details,
    kind: data.outcome === 'passed' && !data.unfinished ? 'ok' : 'unsure',
  };
}

/** The row of laws or of tensors with the largest error against its bound. */
function worstRow(data) {
  const laws = data.laws.map((law) => ({
    ratio: law.worst_ratio,
    name: law.law,
    kernel: law.kernel,
    problem: law.worst_problem,
    replay: law.worst_replay,
  }));
  const tensors = data.accuracy.map((row) => ({
    ratio: row.worst_ratio,
    name: row.tensor,
    kernel: row.kernel,
    problem: row.problem,
    element: row.worst_element,
  }));
  const rows = [...laws, ...tensors].filter((row) => isGiven(row.ratio) && rank(row.ratio) > 0);
  return largestBy(rows, (row) => row.ratio);
}

function distanceAnswer(data) {
  const question = 'How far from perfect?';
  const worst = worstRow(data);
  if (worst === null) return {question, answer: NONE, details: ['No error was measured.']};
  const dtypes = [...groupBy(data.ulp, (item) => item.dtype)].sort(([a], [b]) => byDtype(a, b));
  // Not the largest distance: an output that cancels to almost nothing is any number of ulp away.
  const rounded = dtypes.map(([dtype, items]) => {
    const share = sumBy(items, countWithinHalf) / sumBy(items, (item) => item.total);
    return `${dtype} ${percentText(share)} %`;
  });
  const details = [
    'largest error against its proven bound',
    rounded.length > 0 ? `within \u00BD ulp: ${rounded.join(', ')}` : null,
  ];
  return {
    question,
    answer: [ratioText(worst.ratio), element('small', {}, ' \u00D7 bound')],
    kind: rank(worst.ratio) > 1 ? 'bad' : null,
    details,
  };
}

function placeAnswer(data) {
  const question = 'Where is it worst?';
  const worst = worstRow(data);
  if (worst === null) return {question, answer: NONE, details: []};
  return {
    question,
    answer: element('code', {}, worst.name ?? ''),
    details: [
      element(
        'span',
        {},
        nameText(worst.kernel),
        isGiven(worst.element) ? [' at ', code(worst.element)] : null,
      ),
      isGiven(worst.problem) ? [breakable(worst.problem), ' ', copyButton(worst.replay)] : null,
    ],
  };
}

function historyAnswer(data) {
  const question = 'Worse than before?';
  const steps = lastSteps(data);
  if (steps.length === 0)
    return {question, answer: 'no earlier run', details: ['This page holds one run only.']};
  const worst = largestBy(
    steps,
    (step) => (step.regressions.length > 0 ? 1e6 : 0) + rank(step.change),
  );
  const isWorse = worst.regressions.length > 0;
  const worseKernels = steps.filter((step) => step.regressions.length > 0).length;
  const answer = isWorse ? 'worse' : steps.some((step) => step.change < 0) ? 'no, better' : 'no';
  return {
    question,
    answer,
    kind: isWorse ? 'bad' : 'ok',
    details: [
      isWorse && steps.length > 1
        ? `${worseKernels} of ${plural(steps.length, 'kernel')}; the worst:`
        : null,
      isWorse ? worst.regressions.join('; ') : null,
      `err/bound ${ratioText(worst.before.worst_ratio)} \u2192 ${ratioText(worst.now.worst_ratio)}`,
      [
        steps.length > 1 ? [nameText(worst.now.kernel), ' '] : null,
        'since ',
        runLabel(worst.before),
      ],
    ],
  };
}

function facts(data) {
  const host = data.environment.find(([name]) => name === 'cpu' || name === 'host');
  const trials = sumBy(data.power, (count) => count.trials);
  const accepted = sumBy(data.power, (count) => count.accepted);
  const list = [
    ['kernel', kernelFact(data)],
    ['host', host?.[1]],
    ['started', dateText(data.started)],
    ['duration', isGiven(data.seconds) ? secondsText(data.seconds) : null],
    ['seed', code(data.seed)],
    ['tier', data.tier],
    ['jobs', data.jobs],
    [
      'power',
      trials > 0
        ? [
            `${percentText(1 - accepted / trials)} % `,
            element(
              'span',
              {class: 'quiet'},
              `(${countText(accepted)} of ${countText(trials)} wrong outputs would have passed)`,
            ),
          ]
        : null,
    ],
    [
      'command',
      isGiven(data.command)
        ? [breakable(data.command), ' ', copyButton(data.command, 'command')]
        : null,
    ],
  ];
  return list.filter(([, value]) => isGiven(value));
}

function kernelFact(data) {
  const names =
    data.kernels.length > 0
      ? data.kernels.map((kernel) => [kernel.name, kernel.version].filter(isGiven).join(' '))
      : kernelNames(data);
  if (names.length <= 3) return names.join(', ');
  return element(
    'details',
    {class: 'inline'},
    element('summary', {}, `${names.length} kernels`),
    names.join(', '),
  );
}
