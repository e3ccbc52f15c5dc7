/** Every mistake: one clear line (what, why, next), the right exit status, and nothing lost. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FleetHome, LinesRepository, type Done } from './cli-support.ts';

let home: FleetHome;
let repository: LinesRepository;
let emptyHead: string;

beforeAll(async () => {
  home = new FleetHome();
  repository = new LinesRepository(home.folder);
  repository.commit('passed=1 total=1\n');
  repository.commit('passed=1 total=1 again\n');
  emptyHead = repository.git('commit-tree', '-m', 'nothing', repository.git('hash-object', '-t', 'tree', '-w', '/dev/null'));
  await home.up();
});
afterAll(() => home.close());

/** The line, after checking that it is alone on stderr and that stdout is empty. */
function line(done: Done): string {
  expect(done.stdout).toBe('');
  expect(done.stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(done.stderr).toMatch(/^fleet: .+\. next: .+\n$/);
  return done.stderr;
}

describe('against a running service', () => {
  test.each<[string, string[], number, RegExp]>([
    ['an unknown head', ['submit', '--heads', 'main,nope'], 2, /head 'nope' is not a commit in .*\/lines\. next: git branch -a/],
    ['a head without fleet.json', ['submit', '--heads', 'EMPTY,main'], 2, /head '[0-9a-f]{40}' \([0-9a-f]{10}\) of .*\/lines has no fleet\.json/],
    ['one arm only', ['submit', '--heads', 'main[a=1,b=2]'], 2, /--heads names one arm/],
    ['a malformed arm', ['submit', '--heads', 'main[a,main'], 2, /--heads, column \d+ of "main\[a,main"/],
    ['settings without commas', ['submit', '--heads', 'main[a=1 b=2],main'], 2, /--heads, column 9 .*settings have commas between them, such as \[a=b,c=d\]/],
    ['arms with a space between them', ['submit', '--heads', 'main~1 main'], 2, /arms have commas between them/],
    ['arms as two words', ['submit', '--heads', 'main~1', 'main'], 2, /too many arguments.*lists have commas.* next: fleet submit --help/],
    [
      'a case without its suite',
      ['submit', '--heads', 'main~1,main', '--cases', 'all'],
      2,
      /--cases all: a case is named SUITE\/CASE\. next: fleet submit --help/,
    ],
    ['more arms than a run takes', ['submit', '--heads', 'main,'.repeat(8) + 'main~1'], 2, /--heads: Too big.* next: fleet submit --help/],
    ['no run to watch', ['watch'], 2, /missing required argument 'run'\. next: fleet status lists the runs/],
    ['what is no run id', ['report', 'main'], 2, /'main' is no run id, such as r3k9x0c2wqz\. next: fleet status/],
    ['two lists of arms', ['submit', '--heads', 'main~1,main', '--stack', 'main~1,main'], 2, /--heads and --stack are both given/],
    ['one head to merge', ['submit', '--heads', 'main~1,main', '--merge', 'main'], 2, /--merge names one head, 'main'/],
    ['no --heads', ['submit'], 2, /--heads is missing/],
    ['a misspelt option', ['submit', '--head', 'a,b'], 2, /unknown option '--head' \(Did you mean --heads\?\)/],
    ['a misspelt command', ['submti'], 2, /unknown command 'submti' \(Did you mean submit\?\)/],
    [
      'a count that is none',
      ['submit', '--heads', 'main,main~1', '--pairs', '0'],
      2,
      /'--pairs <n>' argument '0' is invalid\. expected a whole number from 1 to 500/,
    ],
    ['an unknown suite', ['submit', '--heads', 'main~1,main', '--suites', 'contract'], 2, /suite contract is not in .*lines/],
    [
      'a device that nobody serves',
      ['submit', '--heads', 'main~1,main', '--devices', 'b60'],
      2,
      /device b60 is not served by any agent.* next: .*fleet agent --device b60/,
    ],
    ['no device at all', ['submit', '--heads', 'main~1,main'], 5, /no device is served by any agent.* next: .*fleet agent/],
    ['an unknown run', ['status', 'r0123456789'], 2, /no run r0123456789/],
    ['an unknown run to watch', ['watch', 'r0123456789'], 2, /no run r0123456789/],
    ['an unknown run to report', ['report', 'r0123456789'], 2, /no run r0123456789/],
    ['an unknown run to add pairs to', ['pairs', 'add', 'r0123456789', '2'], 2, /no run r0123456789/],
    ['no pairs to add', ['pairs', 'add', 'r0123456789', '0'], 2, /expected a whole number from 1 to 500/],
    ['a report format', ['report', 'r0123456789', '--format', 'pdf'], 2, /Allowed choices are markdown, json/],
    ['a second service on the same state', ['up', '--port', '0'], 5, /served by a live coordinator/],
  ])('%s', async (_what, args, status, words) => {
    const done = await home.fleet(
      args.map((word) => word.replace('EMPTY', emptyHead)),
      { cwd: repository.directory },
    );
    const text = args[0] === 'up' ? done.stderr : line(done);
    expect(text).toMatch(words);
    expect(done.status).toBe(status);
  });

  test.each([
    ['--rule', 'median >= 3% or p < 1', 14, 'expected "and" or the end of the rule'],
    ['--forecast', '5% to 3%', 7, 'the range ends below its beginning'],
  ])('%s "%s" is pointed at with a caret', async (flag, text, column, problem) => {
    const done = await home.fleet(['submit', '--heads', 'main~1,main', flag, text], { cwd: repository.directory });
    expect(done.stderr).toBe(`fleet: ${flag}, column ${column}: ${problem}. next: fleet submit --help\n  ${text}\n  ${' '.repeat(column - 1)}^\n`);
    expect(done.status).toBe(2);
    expect((await home.fleet(['submit', '--help'])).stdout).toContain('every pair > N%');
  });

  test('no forecast yet', async () => {
    expect((await home.fleet(['forecasts'])).stdout).toMatch(/^no forecast yet\. next: fleet submit/);
  });

  test('a directory that is in no repository', async () => {
    const done = await home.fleet(['submit', '--heads', 'a,b'], { env: { GIT_CEILING_DIRECTORIES: path.dirname(home.folder) } });
    expect(line(done)).toMatch(/is not in a git repository.* next: .*--repo DIR/);
    expect(done.status).toBe(2);
  });

  test('a broken fleet.toml is named', async () => {
    const cwd = path.join(home.folder, 'broken');
    mkdirSync(cwd);
    writeFileSync(path.join(cwd, 'fleet.toml'), 'urll = "http://127.0.0.1:1"\n');
    const done = await home.fleet(['devices'], { cwd });
    expect(line(done)).toContain(path.join(cwd, 'fleet.toml'));
    expect(done.status).toBe(2);
  });

  test('an agent without a name, or with an adapter that does not open', async () => {
    expect((await home.fleet(['agent', '--adapter', 'x'])).status).toBe(2);
    const done = await home.fleet(['agent', '--device', 'x', '--adapter', 'no such adapter', '--allow-software']);
    expect(done.stderr).toMatch(/no such adapter/);
    expect(done.status).toBe(5);
  });

  test('none of it left a run, and the repository has no ref that it had not', async () => {
    const { stdout } = await home.fleet(['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ runs: [] });
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});

describe('the engine', () => {
  test.each([
    [['decode'], /^engine decode: required option '--model <dir>' not specified\. next: fleet engine decode --help\n$/],
    [['contract', '--repeat', 'x'], /^engine contract: option '--repeat <n>' argument 'x' is invalid\. .*\. next: fleet engine contract --help\n$/],
    [['contrct'], /^engine: unknown command 'contrct' \(Did you mean contract\?\)\. next: fleet engine --help\n$/],
    // Refused before a device is opened: there is no such adapter either.
    [
      ['contract', '--group', 'typo', '--adapter', 'none'],
      /^engine contract: --group typo: there is no such group; there is attention, [^:]*\. next: fleet engine/,
    ],
  ])('%j is one line', async (args, text) => {
    const done = await home.fleet(['engine', ...args]);
    expect(done.stderr).toMatch(text);
    expect(done.status).toBe(2);
  });

  test('a model folder that is not there: one that is, wherever one stands', async () => {
    const done = await home.fleet(['engine', 'decode', '--model', 'engine/models/none', '--prompt', 'story']);
    const folder = /next: .*--model (\/.*)\n$/.exec(done.stderr)?.[1] ?? '';
    expect(existsSync(path.join(folder, 'config.json'))).toBe(true);
    expect(done.status).toBe(1);
  });

  test('a device opens without Dawn\u2019s warnings, unless they are asked for', async () => {
    const args = ['engine', 'contract', '--kernel', 'copy', '--allow-software'];
    expect(await home.fleet(args)).toMatchObject({ stderr: '', status: 0 });
  });
});

describe('without a service', () => {
  test('no coordinator: the address, where it came from, and how to start one', async () => {
    const done = await home.fleet(['status'], { env: { FLEET_URL: 'http://127.0.0.1:9' } });
    expect(line(done)).toMatch(/no coordinator answers at http:\/\/127\.0\.0\.1:9 \(FLEET_URL\): .+\. next: fleet up/);
    expect(done.status).toBe(5);
  });

  test('a server that is no coordinator is told apart', async () => {
    const { createServer } = await import('node:http');
    const server = createServer((_request, reply) => reply.writeHead(404).end('<html>')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const done = await home.fleet(['devices', '--url', `http://127.0.0.1:${port}`]);
    server.close();
    expect(line(done)).toMatch(/answered 404, not as a fleet coordinator does/);
    expect(done.status).toBe(5);
  });

  test('Redis missing: fleet up says what to install', async () => {
    const bin = path.join(home.folder, 'bin');
    mkdirSync(bin);
    for (const name of ['git', 'flock']) symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), path.join(bin, name));
    const done = await home.fleet(['up', '--port', '0', '--state', path.join(home.folder, 'other')], { env: { PATH: bin } });
    expect(done.status).toBe(5);
    expect(done.stderr.trimEnd().split('\n').at(-1)).toMatch(/redis-server.* next: /);
  });

  test('the engine passes its own exit status and words through', async () => {
    const done = await home.fleet(['engine', 'no-such-command']);
    expect(done.status).toBe(2);
    expect(done.stderr).not.toBe('');
  });
});
