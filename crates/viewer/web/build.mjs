// Builds the page into ../assets, or, with --check, says whether what is there is current.
import { build } from 'esbuild';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, '..', 'assets');

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: { page: 'src/main.ts', report: 'src/report.ts', worker: 'src/worker.ts' },
  outdir: 'out',
  bundle: true,
  minify: true,
  charset: 'utf8',
  target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  legalComments: 'none',
  banner: { js: '/* Built from crates/viewer/web by `npm run build`; licences: third-party.txt */' },
  metafile: true,
  write: false,
});
const built = new Map(outputFiles.map((file) => [file.path.split(/[\\/]/).pop(), file.text]));
built.set('index.html', readFileSync(join(here, 'src/index.html'), 'utf8'));
built.set('icon.svg', readFileSync(join(here, 'src/icon.svg'), 'utf8'));
built.set('third-party.txt', licences(metafile));
built.set('benchmark.json', JSON.stringify(benchmark()));
// The server has no compression of its own. What is inside counts: zlib's bytes differ by version.
built.set('page.js.gz', built.get('page.js'));
const held = (name) => (name.endsWith('.gz') ? gunzipSync(readFileSync(join(assets, name))).toString() : readFileSync(join(assets, name), 'utf8'));
const bytes = (name, text) => (name.endsWith('.gz') ? gzipSync(text, { level: 9 }) : text);

/** The benchmark's entries, scored: means over seeds, by task, size and family. */
function benchmark() {
  const results = join(here, '../../../results/benchmark');
  const folders = readdirSync(results, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
  const rounded = (value) => (value === undefined ? null : Math.round(value * 1e5) / 1e5);
  return folders.map((folder) => {
    const card = Object.fromEntries(readFileSync(join(results, folder, 'card.toml'), 'utf8').split('\n').flatMap((line) => {
      const [, key, value] = line.match(/^(\w+) = "(.*)"$/) ?? [];
      return key ? [[key, value]] : [];
    }));
    const groups = new Map();
    for (const { task, nodes, all, families } of JSON.parse(readFileSync(join(results, folder, 'scores.json'), 'utf8'))) {
      for (const [family, scores] of Object.entries({ all, ...families })) {
        const key = JSON.stringify([task, nodes, family]);
        groups.set(key, [...(groups.get(key) ?? []), scores]);
      }
    }
    const MEASURES = ['f1', 'accuracy', 'pointer_accuracy', 'sequences_right', 'sequences_exact', 'f1_always_1', 'counting_f1', 'answers_1'];
    const mean = (values) => (values.includes(undefined) ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length);
    const scores = [...groups].map(([key, seeds]) => [...JSON.parse(key), ...MEASURES.map((measure) => rounded(mean(seeds.map((one) => one[measure])))), ...['point_to_self', 'keep_pointers'].map((rule) => rounded(mean(seeds.map((one) => one.trivial?.[rule]))))]);
    const { name, supervision, claim, budget } = card;
    return { name, supervision, claim, budget, scores };
  });
}

/** The licences of the packages that are in the bundle. */
function licences(metafile) {
  const inputs = Object.keys(metafile.inputs);
  const names = new Set(inputs.flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []));
  return [...names].sort().map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  }).join('\n----\n\n');
}

if (process.argv.includes('--check')) {
  const stale = [...built].filter(([name, text]) => {
    return !existsSync(join(assets, name)) || held(name) !== text;
  }).map(([name]) => name);
  const extra = readdirSync(assets).filter((name) => !built.has(name));
  if (stale.length || extra.length) {
    console.error(`crates/viewer/assets is not what crates/viewer/web builds (${[...stale, ...extra].join(', ')}): run \`npm run build\` there and commit it`);
    process.exit(1);
  }
  console.log('crates/viewer/assets is current');
} else {
  mkdirSync(assets, { recursive: true });
  for (const [name, text] of built) writeFileSync(join(assets, name), bytes(name, text));
  console.log([...built].map(([name, text]) => `${name} ${text.length}`).join(', '));
}
