// Bundles the unit tests, which are TypeScript, and runs them with Node's own runner.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
const outdir = mkdtempSync(join(tmpdir(), 'pgn-viewer-'));
try {
  await build({ absWorkingDir: here, entryPoints: tests, outdir, bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' } });
  const files = readdirSync(outdir).map((name) => join(outdir, name));
  process.exitCode = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(outdir, { recursive: true });
}
