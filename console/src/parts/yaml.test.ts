import { applyDocument } from './yaml';

const lines = (body: Record<string, unknown>) => applyDocument('job', body).split('\n').slice(2);

test('a document names its kind and the fields of the request', () => {
  expect(applyDocument('job', { name: 'train', image: 'docker.io/pytorch/pytorch:2.9', tasks: 4, gang: true })).toBe(
    '# hostler apply -f job.yaml\nkind: job\nname: train\nimage: docker.io/pytorch/pytorch:2.9\ntasks: 4\ngang: true',
  );
});

test('a text that YAML would read as another value, or as two, has quotes', () => {
  expect(lines({ a: '4', b: 'yes', c: 'x: y', d: 'two words', e: '', f: '- x', g: 'a\nb', h: '0-9%2' })).toEqual([
    'a: "4"', 'b: "yes"', 'c: "x: y"', 'd: "two words"', 'e: ""', 'f: "- x"', 'g: "a\\nb"', 'h: "0-9%2"',
  ]);
});

test('entries of lists stand in one line each, and labels are a map', () => {
  expect(lines({ envs: [{ name: 'A', value: '1,2' }, { name: 'URL', value: 'http://x' }], after: [{ job: 'prepare', when: 'ended' }], labels: { team: 'ml', n: '3' } })).toEqual([
    'envs:', '  - {name: A, value: "1,2"}', '  - {name: URL, value: "http://x"}', 'after:', '  - {job: prepare, when: ended}', 'labels:', '  team: ml', '  "n": "3"',
  ]);
});
