import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sections } from './commands.ts'
import { failureCodes } from './failure.ts'
import { typed, type Said } from './fixtures/cli.fixture.ts'
import { durationOf, nearest, nearestWords } from './parse.ts'

let cwd = ''
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'evenkeel-frame-'))
})
afterAll(() => {
  rmSync(cwd, { recursive: true, force: true })
})

const guide = readFileSync(fileURLToPath(new URL('../../../docs/guides/cli.md', import.meta.url)), 'utf8')
const commands = sections.flatMap((section) => section.commands)

function type(...words: readonly string[]): Promise<Said> {
  return typed(words, { cwd })
}

describe('main', () => {
  test.each([['--help'], ['-h'], ['help'], []])('%s prints the first page, with every command', async (...words) => {
    const { code, out } = await type(...words)
    expect(code).toBe(0)
    for (const { name, about } of commands)
      expect(out).toMatch(new RegExp(`^ {2}${name} +${about.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm'))
  })

  test.each(commands.map(({ name }) => name))('%s has a page with its options and an example', async (name) => {
    const { code, out } = await type(name, '--help')
    expect(code).toBe(0)
    expect(out).toContain(`Usage: evenkeel ${name}`)
    expect(out).toContain('--json')
    expect(out).toContain(`evenkeel ${name}`)
    expect(await type('help', name)).toMatchObject({ out })
  })

  test('F16: version and --version print the version of the package', async () => {
    expect((await type('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await type('version')).out).toBe((await type('--version')).out)
    expect(JSON.parse((await type('version', '--json')).out)).toMatchObject({ node: process.version })
  })

  test('F16: options before the command belong to it', async () => {
    const missing = join(cwd, 'nowhere')
    for (const words of [
      ['--kubeconfig', missing, 'get', 'lamps'],
      ['--json', '--kubeconfig', missing, '-n', 'a', 'get', 'lamps'],
      [`--kubeconfig=${missing}`, 'get', 'lamps'],
    ]) {
      const { code, out, err } = await type(...words)
      expect(code).not.toBe(0)
      expect(`${out}${err}`).toContain('nowhere')
      expect(`${out}${err}`).not.toContain('unknown command')
    }
    expect((await type('--help', 'get')).out).toBe((await type('get', '--help')).out)
  })

  test.each([
    [
      ['--nope', 'get', 'lamps'],
      'unknown option --nope before the command\nTry: evenkeel COMMAND --nope: the options of a command follow its name\n',
    ],
    [['--nope', 'x', 'get', 'lamps'], 'unknown option --nope before the command\nTry: evenkeel COMMAND --nope'],
    [['--nope=x', 'get', 'lamps'], 'unknown option --nope before the command\n'],
    [['-o', 'yaml', 'get', 'lamps'], 'unknown option -o before the command\nTry: evenkeel COMMAND -o'],
    [['--kubeconfg', 'f', 'get', 'lamps'], 'unknown option --kubeconfg before the command\nTry: --kubeconfig\n'],
    [['--kubeconfig'], '--kubeconfig needs a value\n'],
    [['--json'], ''],
    [['-n', 'a'], 'no command is given\nTry: evenkeel --help\n'],
    [['get', 'lamps', '-n'], '--namespace needs a value\n'],
    [['get', 'lamps', '-n', '--all-namespaces'], 'the value of -n begins with a dash\nTry: -n=VALUE\n'],
    [['get', 'lamps', '--all-namespaces=yes'], '--all-namespaces takes no value\n'],
  ])('F16: %j names the option that is wrong', async (words, says) => {
    const { code, err } = await type(...words)
    expect(code).toBe(2)
    expect(err).toContain(says)
  })

  test('F16: short options with a value, and --help, may precede the command', async () => {
    for (const words of [
      ['-na', 'get', 'x'],
      ['-n=a', 'get', 'x'],
      ['-A', 'get', 'x'],
      ['--namespace=a', 'get', 'x'],
    ])
      expect((await type(...words)).err).toMatch(/^error\[no-server\]/)
    expect((await type('--json', '--help')).out).toBe((await type('--help')).out)
    expect((await type('--json', '--version')).out).toBe((await type('--version', '--json')).out)
  })

  test.each([
    [['gte', 'lamps'], 'error[usage]: unknown command "gte"\nTry: evenkeel get\n'],
    [
      ['get', 'lamps', '--outptu', 'yaml'],
      'error[usage]: unknown option --outptu\nTry: --output\nTry: evenkeel get --help\n',
    ],
    [
      ['get', 'lamps', '-o', 'xml'],
      'error[usage]: --output must be one of table, wide, yaml, json, name, got "xml"\nTry: evenkeel get --help\n',
    ],
    [['get'], 'error[usage]: evenkeel get needs KIND [NAME ...] | KIND/NAME ...\nTry: evenkeel get --help\n'],
    [['doctor', 'now'], 'error[usage]: evenkeel doctor does not take "now"\nTry: evenkeel doctor --help\n'],
    [
      ['serve', '--port', '70000'],
      'error[usage]: --port must be a number up to 65535, got "70000"\nTry: evenkeel serve --port 0\n',
    ],
    [
      ['explore', 'a.ts', '--budget', '60'],
      'error[usage]: --budget must be a time with its unit, got "60"\nTry: --budget 60s\n',
    ],
    [
      ['explore', 'a.ts', '--cores', '0'],
      'error[usage]: --cores must be a whole number above 0, got "0"\nTry: --cores 2\n',
    ],
    [['explore', 'a.ts', '--seeds', '5'], 'error[usage]: --seeds needs tier 3\nTry: --tier 3 --seeds 5\n'],
    [
      ['snapshot', 'keep', 'a'],
      'error[usage]: evenkeel snapshot takes save or restore, got "keep"\nTry: evenkeel snapshot --help\n',
    ],
    [['completion', 'dos'], 'error[usage]: unknown shell "dos"\nTry: one of bash, zsh, fish\n'],
    [['tree', 'lamp/a/b'], undefined],
    [['get', 'x', '--constructor'], undefined],
    [['__proto__'], undefined],
  ])('%j is rejected with a hint', async (words, err) => {
    const said = await type(...words)
    if (err === undefined) expect(said.err).toMatch(/^error\[(?:usage|no-server)\]: /)
    else expect(said).toEqual({ code: 2, out: '', err })
  })

  test('with --json stdout contains only the failure as JSON', async () => {
    expect(await type('gte', '--json')).toEqual({
      code: 2,
      out: '{"error":{"code":"usage","message":"unknown command \\"gte\\"","hint":"evenkeel get"}}\n',
      err: '',
    })
  })
})

describe('without a server', () => {
  const asking = commands
    .filter(({ name }) =>
      ['get', 'describe', 'watch', 'wait', 'logs', 'explain', 'edit', 'delete', 'do', 'why', 'tree'].includes(name),
    )
    .map(({ name }) => [name, 'lamp/a', ...(name === 'wait' ? ['--for', 'delete'] : [])])

  test.each([...asking, ['finalizers', 'list'], ['kubeconfig'], ['rules']])('%s reports it', async (...words) => {
    expect(await type(...words)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error\[no-server\]: .+\nTry: .+\n$/) as string,
    })
    expect(JSON.parse((await type(...words, '--json')).out)).toMatchObject({ error: { code: 'no-server' } })
  })

  test('distinguishes a server that does not respond from one that is not configured', async () => {
    const path = join(cwd, 'unreachable')
    writeFileSync(
      path,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'a',
        clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:9' } }],
        users: [{ name: 'a', user: {} }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      }),
    )
    expect((await type('get', 'lamps', '--kubeconfig', path)).err).toMatch(/^error\[no-server\]: .*127\.0\.0\.1:9/)
    expect((await type('get', 'lamps', '--kubeconfig', join(cwd, 'none'))).err).toMatch(
      /^error\[(?:no-server|bad-file)\]: .*none/,
    )
    expect((await type('get', 'lamps', '--kubeconfig', path, '--context', 'b')).err).toMatch(
      /^error\[no-server\]: .*\bb\b/,
    )
  })

  test('doctor reports the problems and exits with 1', async () => {
    const { code, out } = await type('doctor')
    expect(code).toBe(1)
    expect(out).toMatch(/✓ Node: /)
    expect(out).toMatch(/✗ server: .*\n {2}try: evenkeel up starts a server/)
    expect(JSON.parse((await type('doctor', '--json')).out)).toContainEqual(
      expect.objectContaining({ check: 'server', ok: false }),
    )
  })
})

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('%s: prints a valid script for the shell', async (shell) => {
    const { code, out } = await type('completion', shell)
    expect(code).toBe(0)
    expect(out).toContain('evenkeel completion words')
    const { status, error, stderr } = spawnSync(shell, ['-n'], { input: out, encoding: 'utf8', timeout: 20_000 })
    // A machine may not have that shell.
    if (!error) expect([status, stderr]).toEqual([0, ''])
  })

  test('completes commands, options and words; kinds only if a server responds', async () => {
    expect((await type('completion', 'words')).out.split('\n')).toEqual(
      expect.arrayContaining(commands.map(({ name }) => name)),
    )
    expect((await type('completion', 'words', 'snapshot')).out).toMatch(/^save\nrestore\n--data\n/)
    expect((await type('completion', 'words', 'get')).out).toMatch(/^--namespace\n/)
  })
})

describe('the guide', () => {
  test('lists every code with its meaning, and no other', () => {
    const listed = [...guide.matchAll(/^\| `([a-z-]+)` \| (.+?) \| \d \|$/gm)].map(([, code, meaning]) => [
      code,
      meaning,
    ])
    expect(Object.fromEntries(listed)).toEqual(failureCodes)
  })

  test.each(commands.map(({ name }) => name))('has a section for %s', (name) => {
    expect(guide).toMatch(new RegExp(`^### \`evenkeel ${name}\``, 'm'))
  })
})

describe('nearest', () => {
  test('finds the most similar word, and none if all are too different', () => {
    expect(nearest('gte', ['get', 'delete'])).toBe('get')
    expect(nearest('xyz', ['get', 'delete'])).toBeUndefined()
    expect(nearest('', [])).toBeUndefined()
    expect(nearestWords('bats', ['cats', 'bat', 'dogs', 'bats', 'bits'])).toEqual(['bats', 'cats', 'bat'])
  })
})

describe('durationOf', () => {
  test.each([
    ['500ms', 500],
    ['60s', 60_000],
    ['1.5m', 90_000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(durationOf('budget', text)).toBe(ms)
  })
})
