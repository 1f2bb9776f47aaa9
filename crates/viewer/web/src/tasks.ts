/** What the tasks' operations and answers mean, in words. */

interface Words {
  operation: string;
  answers: [string, string];
}

const KNOWN: Record<string, Words> = {
  dsu: { operation: 'query-union', answers: ['already together', 'were apart, now joined'] },
  'dsu-ordered': { operation: 'query-union', answers: ['already together', 'were apart, now joined'] },
  forest: { operation: 'query-toggle', answers: ['were apart, now linked', 'were connected, now cut'] },
  lct: { operation: 'query-toggle', answers: ['were apart, now linked', 'were connected, now cut'] },
};

export function words(task: string): Words {
  return KNOWN[task] ?? { operation: task, answers: ['no', 'yes'] };
}
