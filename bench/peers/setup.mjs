// Installs what is missing: the Node that everything runs on, and each client in a folder of its own, so that its
// installed size is its own. This library is packed and installed anew each time, for it is what changes.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;
const dirs = ['runtime', ...readdirSync(path.join(root, 'clients')).map((d) => path.join('clients', d))];
const bin = path.join(root, 'runtime/node_modules/node/bin');
pack(path.join(root, 'clients/weakincentives'));
for (const dir of dirs) {
  const cwd = path.join(root, dir);
  if (!existsSync(path.join(cwd, 'package.json')) || existsSync(path.join(cwd, 'node_modules'))) continue;
  console.error(`installing ${dir}`);
  const how = existsSync(path.join(cwd, 'package-lock.json')) ? 'ci' : 'install';
  execFileSync('npm', [how, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, stdio: 'inherit', env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
}
if (!existsSync(path.join(bin, 'node'))) throw new Error('runtime/ holds no node: allow the install script of the `node` package, or set BENCH_NODE');

function pack(cwd) {
  for (const old of ['node_modules', 'package-lock.json']) rmSync(path.join(cwd, old), { recursive: true, force: true });
  const out = execFileSync('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', cwd], { cwd: path.join(root, '../..'), encoding: 'utf8' });
  const [{ filename }] = JSON.parse(out.slice(out.indexOf('\n[') + 1));
  renameSync(path.join(cwd, filename), path.join(cwd, 'weakincentives.tgz'));
}
