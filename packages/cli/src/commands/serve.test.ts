import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lamp, typed, type Said } from '../fixtures/cli.fixture.ts'
import type * as Lamps from '../fixtures/lamps.fixture.ts'
import { isAlive, startProcess } from '../fixtures/process.fixture.ts'

/** The exports that `up` accepts. */
const parts: readonly (keyof typeof Lamps)[] = ['controllers', 'serve']
const lamps = fileURLToPath(new URL('../fixtures/lamps.fixture.ts', import.meta.url))

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-running-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Begun {
  readonly first: Promise<{ readonly url: string; readonly kubeconfig: string }>
  readonly serving: Promise<Said>
}

/** Runs a command that does not end, and returns its first output. */
function begin(words: readonly string[], signal: AbortSignal): Begun {
  let serving: Promise<Said> | undefined
  const first = new Promise<Awaited<Begun['first']>>((resolve, reject) => {
    serving = typed(words, {
      cwd: folder,
      signal,
      onOut: (text) => {
        resolve(JSON.parse(text) as Awaited<Begun['first']>)
      },
    })
    serving.then(({ err }) => {
      reject(new Error(err))
    }, reject)
  })
  return { first, serving: serving ?? Promise.reject(new Error('never')) }
}

describe('serve', () => {
  test('takes users from a file, limits, names and rights from options', async () => {
    await writeFile(join(folder, 'users.csv'), 's3cret,ada,u1,"system:authenticated,team"\n')
    const stop = new AbortController()
    const words = ['--token-auth-file', 'users.csv', '--limit', 'writesMax=7', '--authorization-mode', 'always-allow']
    const { first, serving } = begin(
      ['serve', '--memory', '--port', '0', '--json', '--host', '0.0.0.0', '--name', 'keel.test', ...words],
      stop.signal,
    )
    const { url, kubeconfig } = await first
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const text = await readFile(kubeconfig, 'utf8')
    const asAda = text.replace(/token: .*/, 'token: "s3cret"').replace(/ {4}client-.*\n/g, '')
    await writeFile(join(folder, 'ada'), asAda)
    const { out } = await typed(['doctor', '--kubeconfig', 'ada', '--json'], { cwd: folder })
    expect(out).toContain('ada')
    expect((await typed(['get', 'ns', '--kubeconfig', 'ada', '-o', 'name'], { cwd: folder })).out).toContain('default')
    stop.abort()
    expect(await serving).toMatchObject({ code: 0, err: '' })
  })

  test.each([
    [['--limit', 'writes'], 'error[usage]: --limit must be NAME=NUMBER, got "writes"'],
    [['--limit', 'writsMax=5'], 'error[usage]: limits must be of readsMax, '],
    [['--limit', 'writesMax=0'], 'error[usage]: writesMax must be a whole number above 0, got 0'],
    [['--resolve-service', 'hooks'], 'error[usage]: --resolve-service must be NAMESPACE/NAME=HOST:PORT'],
    [['--feature-gates', 'Other=true'], 'error[usage]: --feature-gates names an unknown feature gate: "Other=true"'],
    [
      ['--proxy-client-cert-file', 'a.crt'],
      'error[usage]: --proxy-client-cert-file and --proxy-client-key-file belong together',
    ],
    [['--authorization-mode', 'all'], 'error[usage]: '],
    [['--service-cluster-ip-range', '10.0.0.0'], 'error[usage]: serviceClusterIpRanges must be CIDRs such as'],
    [
      ['--disable-admission-plugins', 'Priority,Nope'],
      'error[usage]: --disable-admission-plugins: unknown plugin "Nope"',
    ],
    [
      ['--enable-admission-plugins', 'Priority', '--disable-admission-plugins', 'Priority'],
      'error[usage]: --enable-admission-plugins and --disable-admission-plugins both name Priority',
    ],
    [['--client-ca-file', 'nowhere.pem'], 'error[bad-file]: '],
    [['--token-auth-file', 'nowhere.csv'], 'error[bad-file]: '],
  ])('%j is an error that says what to do', async (words, expected) => {
    const { code, err } = await typed(['serve', '--memory', '--port', '0', ...words], { cwd: folder })
    expect(code).toBe(2)
    expect(err).toContain(expected)
  })

  test('serves until it is stopped; its data can be saved and restored', async () => {
    const stop = new AbortController()
    const { first, serving } = begin(['serve', '--port', '0', '--json'], stop.signal)
    const { url, kubeconfig } = await first
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect((await stat(kubeconfig)).mode & 0o077).toBe(0)
    await typed(['apply', '-f', '-'], {
      cwd: folder,
      stdin: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: kept }\n',
    })
    expect(await typed(['kubeconfig'], { cwd: folder })).toMatchObject({ code: 0, out: `${kubeconfig}\n` })
    expect(JSON.parse((await typed(['kubeconfig', '--json'], { cwd: folder })).out)).toMatchObject({
      path: kubeconfig,
      server: url,
    })
    expect((await typed(['kubeconfig', '--raw'], { cwd: folder })).out).toContain(url)
    expect((await typed(['snapshot', 'save', 'busy.backup'], { cwd: folder })).err).toMatch(/^error\[busy\]: .*in use/)
    stop.abort()
    expect(await serving).toMatchObject({ code: 0, err: '' })

    expect(JSON.parse((await typed(['snapshot', 'save', 'a.backup', '--json'], { cwd: folder })).out)).toMatchObject({
      saved: join(folder, 'a.backup'),
      revision: expect.any(Number) as number,
    })
    expect((await typed(['snapshot', 'restore', 'a.backup', '--data', 'other'], { cwd: folder })).out).toMatch(
      /^\d+ objects restored into .*other.*; versions continue from \d+\n$/,
    )
    expect((await typed(['snapshot', 'restore', 'none.backup', '--data', 'third'], { cwd: folder })).code).not.toBe(0)
  })

  test('F4: serve --memory keeps nothing, but commands beside it find its server', async () => {
    for (const name of ['first', 'second']) {
      const stop = new AbortController()
      const { first, serving } = begin(['serve', '--memory', '--port', '0', '--json'], stop.signal)
      const { kubeconfig } = await first
      expect(kubeconfig).toBe(join(folder, 'data', 'kubeconfig'))
      const stdin = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`
      await typed(['apply', '-f', '-'], { cwd: folder, stdin })
      const { code, out } = await typed(['get', 'configmaps', '-o', 'name'], { cwd: folder })
      expect([code, out.match(/first|second/g)]).toEqual([0, [name]])
      stop.abort()
      expect(await serving).toMatchObject({ code: 0, err: '' })
    }
  })

  test('a port in use is a one-line error', async () => {
    const stop = new AbortController()
    const { first, serving } = begin(['serve', '--port', '0', '--memory', '--json'], stop.signal)
    const { port } = new URL((await first).url)
    expect((await typed(['serve', '--port', port, '--memory', '--data', 'b'], { cwd: folder })).err).toBe(
      `error[busy]: port ${port} is in use\nTry: stop the program that uses it, or choose another port with --port\n`,
    )
    stop.abort()
    await serving
  })
})

describe('up', () => {
  test('prints addresses, runs the controllers, and leaves only its objects behind', async () => {
    const up = startProcess(['up', lamps, '--port', '0'], folder)
    const text = await up.until(/export KUBECONFIG=.*\n/)
    expect(text).toMatch(
      /^Evenkeel is up\. Ctrl-C stops it\.\n\n {2}API server {2}https:\/\/127\.0\.0\.1:\d+\n {2}Shop {8}http:\/\/127\.0\.0\.1\/process\/\d+\n/,
    )
    const pid = Number(/process\/(\d+)/.exec(text)?.[1])
    expect(isAlive(pid)).toBe(true)
    const { managers } = JSON.parse(await readFile(join(folder, 'data', 'manager.json'), 'utf8')) as {
      managers: readonly { name: string; url: string }[]
    }
    for (const { url } of managers) expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    await typed(['apply', '-f', '-'], { cwd: folder, stdin: JSON.stringify(lamp('kept')) })
    expect((await typed(['doctor'], { cwd: folder })).out).toMatch(/✓ controller lamp: running/)
    // The module created this manager itself.
    expect((await typed(['doctor'], { cwd: folder })).out).toMatch(/✓ controller looker: running/)
    const second = await startProcess(['up', lamps, '--port', '0'], folder).ended
    expect(second).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error\[busy\]: .*in use/m) as string,
    })
    expect(await readdir(join(folder, 'data'))).toContain('manager.json')

    up.child.kill('SIGINT')
    expect(await up.ended).toMatchObject({ code: 0, out: expect.stringMatching(/\nStopped\.\n$/) as string })
    expect((await readdir(join(folder, 'data'))).toSorted()).toEqual(['.gitignore', 'identity', 'kubeconfig', 'store'])
    expect(await readdir(folder)).toEqual(['data'])
    expect(isAlive(pid)).toBe(false)

    const again = startProcess(['up', lamps, '--port', '0', '--json'], folder)
    const line = JSON.parse((await again.until(/\n/)).split('\n')[0] ?? '') as {
      addresses: unknown
      kubeconfig: string
    }
    expect(line).toMatchObject({
      kubeconfig: join(folder, 'data', 'kubeconfig'),
      addresses: [{ name: 'API server' }, { name: 'Shop' }],
    })
    expect((await typed(['get', 'lamps', '-o', 'name'], { cwd: folder })).out).toBe('lamp/kept\n')
    again.child.kill('SIGTERM')
    expect((await again.ended).out.trim().split('\n')).toHaveLength(1)
  })

  test('F16: the note of an address is shown after it', async () => {
    const address = "{ name: 'Page', url: 'http://127.0.0.1:9', note: 'port 8 is taken' }"
    await writeFile(join(folder, 'app.mjs'), `export const serve = async () => [${address}]`)
    const up = startProcess(['up', 'app.mjs', '--port', '0', '--memory'], folder)
    expect(await up.until(/Page.*\n/)).toContain('  Page        http://127.0.0.1:9  (port 8 is taken)\n')
    up.child.kill('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  test('a module that cannot serve its page stops everything with an error', async () => {
    await writeFile(join(folder, 'app.mjs'), 'export const serve = () => { throw new Error("port 80 is taken") }')
    const { code, err } = await startProcess(['up', 'app.mjs', '--port', '0', '--memory'], folder).ended
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/error\[bad-file\]: serve of .*app\.mjs failed: port 80 is taken/) as string,
    })
  })

  test.each([
    ['export const a = 1', `neither calls run nor exports ${parts.join(' or ')}`],
    ['throw new Error("broken")', 'app.mjs: broken'],
    [undefined, 'does not exist'],
  ])('a module with the source %j is rejected with one sentence', async (text, says) => {
    if (text !== undefined) await writeFile(join(folder, 'app.mjs'), text)
    expect(await typed(['up', 'app.mjs', '--port', '0'], { cwd: folder })).toMatchObject({
      code: 2,
      err: expect.stringContaining(says) as string,
    })
    expect((await readdir(folder)).filter((name) => name !== 'app.mjs')).toEqual([])
  })
})
