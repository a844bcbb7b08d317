/**
 * The packages as users get them: packed, installed in an empty folder, type-checked and run there.
 *
 * Everything happens in a temporary folder; the working tree and its build stay unchanged.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Packed {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, unknown>>
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const user = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-user-'))
const allowed =
  /^(?:dist\/.+\.(?:js|d\.ts|js\.map)|bin\/evenkeel\.mjs|envtest\/(?:etcd|kube-apiserver|package\.json)|README\.md|LICENSE|package\.json)$/
const npmQuiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

let packed: Packed
let commandLine: Packed
let cel: Packed
let builtins: Packed
let workloads: Packed
let manifest: Manifest

beforeAll(() => {
  const all = JSON.parse(run(join(root, 'tools', 'pack.mjs'), user)) as Packed[]
  const named = (name: string): Packed => {
    const found = all.find((one) => one.name === name)
    if (!found) throw new Error(`${name} was not packed`)
    return found
  }
  packed = named('evenkeel')
  ;[cel, builtins, commandLine, workloads] = ['cel', 'builtins', 'cli', 'workloads'].map((name) =>
    named(`@evenkeel/${name}`),
  ) as [Packed, Packed, Packed, Packed]
  write('package.json', JSON.stringify({ name: 'user', private: true, type: 'module' }))
  execFileSync('npm', ['install', ...npmQuiet, ...all.map(({ filename }) => join(user, filename))], {
    cwd: user,
    encoding: 'utf8',
    stdio: 'pipe',
  })
  manifest = JSON.parse(read('node_modules/evenkeel/package.json')) as Manifest
  addNodeTypes()
}, 240_000)

afterAll(() => rmSync(user, { recursive: true, force: true }))

describe('the packed package', () => {
  test('row 28, F18: contains only built files, the readme, the licence and package.json', () => {
    const paths = packed.files.map(({ path }) => path)
    expect(paths.filter((path) => !allowed.test(path))).toEqual([])
    expect(paths.filter((path) => /\.(?:test|fixture)\./.test(path))).toEqual([])
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
    )
  })

  test('row 28: has no install scripts', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as Lock
    expect(Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)).toEqual([])
    expect(manifest.scripts).toBeUndefined()
  })

  test('has the programs of envtest, in their folder', () => {
    const assets = run(join(user, 'node_modules', '.bin', 'evenkeel'), 'envtest').trim()
    expect(execFileSync(join(assets, 'kube-apiserver'), ['--version'], { encoding: 'utf8' })).toMatch(
      /^Kubernetes v1\.\d+\.\d+\+evenkeel\n$/,
    )
    expect(execFileSync(join(assets, 'etcd'), ['--help'], { encoding: 'utf8' })).toContain('--listen-client-urls')
  })

  test('has entry points without the source condition', () => {
    expect(Object.keys(manifest.exports)).toEqual(expect.arrayContaining(['.', './server']))
    expect(JSON.stringify(manifest)).not.toContain('/src/')
  })
})

describe('the packed CEL engine', () => {
  test('works by itself', () => {
    expect(cel.files.map(({ path }) => path).filter((path) => !allowed.test(path))).toEqual([])
    write(
      'cel.mjs',
      `import { baseEnvironment, compileExpression } from '@evenkeel/cel'
      const compiled = compileExpression('1 + 1 == 2', baseEnvironment)
      console.log(JSON.stringify(compiled.evaluate({})))`,
    )
    expect(run(join(user, 'cel.mjs'))).toContain('true')
  })
})

describe('the packed built-in kinds', () => {
  test('contain only built files, and resolve evenkeel', () => {
    expect(builtins.files.map(({ path }) => path).filter((path) => !allowed.test(path))).toEqual([])
    write(
      'builtins.mjs',
      `import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
      import { FieldPath } from 'evenkeel/unstable/builtins'
      console.log(typeof makeCatalog, typeof strategyFor, typeof columnsFor, typeof FieldPath.of)`,
    )
    expect(run(join(user, 'builtins.mjs'))).toBe('function function function function\n')
    expect(readdirSync(join(user, 'node_modules', '@evenkeel'))).toEqual(['builtins', 'cel', 'cli', 'dcp', 'workloads'])
  })
})

describe('the packed workloads', () => {
  test('contain only built files, and resolve evenkeel', () => {
    expect(workloads.files.map(({ path }) => path).filter((path) => !allowed.test(path))).toEqual([])
    write(
      'workloads.mjs',
      `import { Process, Service, workloads } from '@evenkeel/workloads'
      const { controllers } = workloads({ folder: 'work' })
      console.log([Process, Service].map((kind) => controllers.some((one) => one.for === kind)))`,
    )
    expect(run(join(user, 'workloads.mjs'))).toBe('[ true, true ]\n')
  })
})

describe('the packed command line', () => {
  test('row 28: contains only built files, the command, the readme, the licence and package.json, without install scripts', () => {
    const paths = commandLine.files.map(({ path }) => path)
    expect(
      paths.filter(
        (path) =>
          !/^(?:dist\/(?:.+\.(?:js|d\.ts|js\.map)|licenses\.txt)|bin\/evenkeel\.mjs|README\.md|LICENSE|package\.json)$/.test(
            path,
          ),
      ),
    ).toEqual([])
    expect(paths.filter((path) => /\.(?:test|fixture)\./.test(path))).toEqual([])
    const { scripts } = JSON.parse(read('node_modules/@evenkeel/cli/package.json')) as Manifest
    expect([scripts, read('node_modules/@evenkeel/cli/package.json')]).toEqual([
      undefined,
      expect.not.stringContaining('/src/') as string,
    ])
  })

  test('F2: is the command evenkeel, and evenkeel has no other', () => {
    expect(Object.keys(manifest.bin ?? {})).toEqual(['evenkeel'])
    expect(run(join(user, 'node_modules', '.bin', 'evenkeel'), '--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(run(join(user, 'node_modules', '.bin', 'evenkeel'), 'why', '--help')).toContain(
      'Usage: evenkeel why KIND/NAME',
    )
  })

  // Node 26 needs more files itself: just below what we need it fails by itself, with a stack, before our first line.
  const [major] = process.versions.node.split('.').map(Number)
  const hasFiles = (major ?? 0) < 24
  test.runIf(hasFiles)(
    'D9: serve with a low limit of open files runs, or ends with one clear line and no stack',
    async () => {
      let limit = 64
      let said = await serveWithFiles(limit)
      // How many files Node needs for itself depends on its version: the first limit that is too low is the one that counts.
      for (; said.code === undefined && limit > 8; limit -= 4) said = await serveWithFiles(limit)
      expect(said).toEqual({
        code: 1,
        text: 'error[busy]: too many open files\nTry: raise the limit, for instance with ulimit -n 1024\n',
      })
    },
  )
})

describe('the packed Model Context Protocol', () => {
  test('answers without the packages that it was built from, which it names with their licences', () => {
    expect(readdirSync(join(user, 'node_modules'))).not.toContain('@modelcontextprotocol')
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const { stdout } = spawnSync(process.execPath, [commandPath(), 'mcp'], {
      cwd: user,
      encoding: 'utf8',
      env: plainEnvironment(),
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    })
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'evenkeel' } } })
    const licenses = read('node_modules/@evenkeel/cli/dist/licenses.txt')
    for (const name of ['@modelcontextprotocol/sdk', 'zod']) expect(`\n${licenses}`).toContain(`\n${name} `)
  })
})

describe('the packed dcp', () => {
  test('is the command dcp, and serves its kinds', () => {
    const command = join(user, 'node_modules', '.bin', 'dcp')
    expect(JSON.parse(run(command, 'version'))).toMatchObject({ version: expect.any(String) as string })
    write(
      'dcp.mjs',
      `import { Executable } from '@evenkeel/dcp'
      import { crdOf } from 'evenkeel'
      console.log(crdOf(Executable).metadata.name)`,
    )
    expect(run(join(user, 'dcp.mjs'))).toBe('executables.usvc-dev.developer.microsoft.com\n')
  })
})

describe('a program that uses it', () => {
  test.for([
    ['as a module', []],
    ['as a module under the source condition', ['--conditions=source']],
  ] as const)('runs %s', ([, flags]) => {
    write(
      'run.mjs',
      `${importLines()}
      import { SimulatedClock } from 'evenkeel/unstable/base'
      import { defineKind } from 'evenkeel'
      console.log(typeof defineKind, typeof new SimulatedClock().now())`,
    )
    expect(run(...flags, join(user, 'run.mjs')).trim()).toBe('function number')
  })

  test('runs by require', () => {
    write(
      'run.cjs',
      `${specifiers()
        .map((name) => `require('${name}')`)
        .join('\n')}
      const { SimulatedClock } = require('evenkeel/unstable/base')
      const { defineKind } = require('evenkeel')
      console.log(typeof defineKind, typeof new SimulatedClock().now())`,
    )
    expect(run(join(user, 'run.cjs')).trim()).toBe('function number')
  })

  test('handles large writes in a thread', () => {
    write(
      'large.mjs',
      `import { request } from 'node:https'
      import { startServer } from 'evenkeel/server'
      const server = await startServer({ listen: {} })
      const { port, caPem: ca, token } = server.address
      const send = (method, path, body) =>
        new Promise((resolve, reject) => {
          const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
          const sent = request({ host: '127.0.0.1', port, ca, method, path, headers }, async (response) => {
            let text = ''
            for await (const piece of response) text += piece
            resolve({ status: response.statusCode, text })
          })
          sent.on('error', reject)
          sent.end(body)
        })
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text: 'x'.repeat(100_000) } }
      const { status } = await send('POST', '/api/v1/namespaces/default/configmaps', JSON.stringify(object))
      const { text } = await send('GET', '/metrics')
      await server.stop()
      console.log(status, /large_writes_total{place="thread"} \\d+/.exec(text)[0])`,
    )
    expect(run(join(user, 'large.mjs')).trim()).toBe('201 large_writes_total{place="thread"} 1')
  })

  test.for([
    ['nodenext', 'nodenext', {}],
    ['node16', 'node16', {}],
    ['bundler', 'esnext', {}],
    ['nodenext with the source condition', 'nodenext', { customConditions: ['source'] }],
  ] as const)('type-checks under %s', ([name, module, extra]) => {
    write(
      'check.ts',
      `${importLines()}
      import { SimulatedClock, type Clock } from 'evenkeel/unstable/base'
      import { defineKind } from 'evenkeel'
      export const clock: Clock = new SimulatedClock()
      export const now: number = clock.now()
      export const make: typeof defineKind = defineKind
      // @ts-expect-error: a clock that counts in text would mean that types were lost
      export const text: string = clock.now()`,
    )
    expect(typeErrors({ module, moduleResolution: name.split(' ')[0], ...extra })).toBe('')
  })
})

// A reconcile that throws: its line in the log, the event, `why`, the Explorer's story and the output of vitest.

/** How the program is started: compiled with source maps, by tsx, by the type stripping of Node. */
const runners = {
  compiled: { file: 'app.js', flags: [] },
  tsx: { file: 'app.ts', flags: ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] },
  stripped: { file: 'app.ts', flags: [] },
} as const

const failingProgram = `import { defineController, run } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { Scenario } from 'evenkeel/testing'

interface Settings { readonly limits: { readonly size: number } }

export const controllers = [
  defineController({
    for: ConfigMap,
    reconcile(object) {
      if (object.metadata.name !== 'a') return
      const settings = JSON.parse(object.data?.['settings'] ?? '{}') as Settings
      console.log(settings.limits.size)
    },
  }),
]

export const scenario: Omit<Scenario, 'controllers'> = {
  name: 'settings',
  steps: [{ name: 'creates ConfigMap a', run: (user) => user.create(ConfigMap, { metadata: { name: 'a' } }) }],
}

if (process.argv[1]?.includes('app.')) await run({ name: 'settings', controllers })
`

const failingTest = `import 'evenkeel/testing/vitest'
import { startTestPlane } from 'evenkeel/testing'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { expect, test } from 'vitest'
import { controllers, scenario } from './app.ts'

test('until', async () => {
  await using plane = await startTestPlane({ controllers })
  await plane.client.create(ConfigMap, { metadata: { name: 'a' } })
  await plane.until(async () => (await plane.client.get(ConfigMap, { name: 'a' })).data?.['ready'] === 'yes', { timeoutMs: 500 })
})

test('converges', async () => {
  await expect({ controllers, scenario }).toConverge()
})
`

const throwingLine = failingProgram.split('\n').findIndex((text) => text.includes('settings.limits.size')) + 1
const place = `app.ts:${throwingLine}`

describe('F1: a reconcile that throws', () => {
  beforeAll(() => {
    write('app.ts', failingProgram)
    write('a.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }))
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      sourceMap: true,
      types: ['node'],
      skipLibCheck: true,
    }
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', user)
    for (const name of ['tsx', 'vitest'])
      symlinkSync(join(root, 'node_modules', name), join(user, 'node_modules', name), 'dir')
  }, 60_000)

  test.for(Object.keys(runners) as (keyof typeof runners)[])(
    'names its line in the log, in the event and in why: %s',
    { timeout: 120_000 },
    async (runner, { skip }) => {
      const { file, flags } = runners[runner]
      if (runner === 'stripped' && (process.features as { typescript?: unknown }).typescript !== 'strip')
        skip('this Node does not strip types')
      const program = spawn(process.execPath, [...flags, file], { cwd: user, env: plainEnvironment() })
      const said = { text: '' }
      const ended = once(program, 'close')
      try {
        await new Promise<void>((resolve, reject) => {
          const look = (piece: Buffer): void => {
            said.text += piece.toString()
            if (said.text.includes('Ctrl-C stops it.')) resolve()
          }
          program.stdout.on('data', look)
          program.stderr.on('data', look)
          void ended.then(() => {
            reject(new Error(`the program ended: ${said.text}`))
          })
        })
        evenkeel('apply', '-f', 'a.json')
        const events = await eventually(
          () => evenkeel('get', 'events', '-o', 'json'),
          (text) => text.includes('ReconcileFailed'),
        )
        expect(events).toContain(place)
        expect(evenkeel('why', 'configmap/a')).toContain(place)
        evenkeel('delete', 'configmap/a')
      } finally {
        program.kill('SIGINT')
        await ended
        rmSync(join(user, 'data'), { recursive: true, force: true })
      }
      expect(said.text).toContain(`reading 'size')" at=${place} `)
      expect(said.text.match(/TypeError: .*\n +at .*app\.ts:\d+:\d+/g)).toHaveLength(1)
    },
  )

  test.for(['app.js', 'app.ts'])("names its line in the Explorer's story: %s", { timeout: 120_000 }, (file) => {
    const { stdout } = spawnSync(process.execPath, [commandPath(), 'explore', file, '--tier', '0'], {
      cwd: user,
      encoding: 'utf8',
      env: plainEnvironment(),
    })
    expect(stdout).toMatch(new RegExp(`fails reconcile of ConfigMap default/a: TypeError: .* ${place}\\b`))
    expect(stdout).toContain(`(${place})`)
  })

  test('names its line in the output of vitest, from until and from a matcher', () => {
    write('app.test.ts', failingTest)
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--root', user, '--reporter', 'default'],
      { cwd: user, encoding: 'utf8', env: plainEnvironment() },
    )
    const output = `${stdout}${stderr}`
    expect(output).toContain('Tests  2 failed (2)')
    expect(output.split('the last failures of controllers:').slice(1)).toEqual([
      expect.stringContaining(place) as string,
      expect.stringContaining(place) as string,
    ])
  }, 120_000)
})

function commandPath(): string {
  return join(user, 'node_modules', '.bin', 'evenkeel')
}

function evenkeel(...args: string[]): string {
  return execFileSync(process.execPath, [commandPath(), ...args], {
    cwd: user,
    encoding: 'utf8',
    stdio: 'pipe',
    env: plainEnvironment(),
  })
}

/** No cluster, no colours, and nothing of the runner of this test. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: user, USERPROFILE: user, TMPDIR: user, NO_COLOR: '1' }
}

/** Reads again until the text is as expected; the test's own timeout ends it. */
async function eventually(read: () => string, isDone: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = read()
    if (isDone(text)) return text
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Declarations are checked too (no skipLibCheck): ours must not depend on our own settings. */
function typeErrors(options: object): string {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    strict: true,
    noEmit: true,
    types: ['node'],
    ...options,
  }
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['check.ts'] }))
  try {
    return run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', user)
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

/** Users of Node have its types. */
function addNodeTypes(): void {
  for (const name of ['@types/node', 'undici-types']) {
    mkdirSync(dirname(join(user, 'node_modules', name)), { recursive: true })
    cpSync(join(root, 'node_modules', name), join(user, 'node_modules', name), { recursive: true })
  }
}

function specifiers(): string[] {
  return (
    Object.keys(manifest.exports)
      // The entry for vitest needs vitest, which this user has not installed.
      .filter((subpath) => !subpath.endsWith('.json') && subpath !== './testing/vitest')
      .map((subpath) => subpath.replace('.', 'evenkeel'))
  )
}

function importLines(): string {
  return specifiers()
    .map((name) => `import '${name}'`)
    .join('\n')
}

function run(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: user, encoding: 'utf8', stdio: 'pipe' })
}

/** What `evenkeel serve` prints under a limit of open files, and its exit code if it does not serve. */
async function serveWithFiles(limit: number): Promise<{ readonly code: number | undefined; readonly text: string }> {
  const words = [process.execPath, commandPath(), 'serve', '--memory', '--port', '0', '--json']
  const child = spawn('sh', ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, ...words], { cwd: user })
  let [text, isServing] = ['', false]
  child.stderr.on('data', (piece: Buffer) => {
    text += piece.toString()
  })
  child.stdout.on('data', () => {
    isServing = true
    child.kill('SIGKILL')
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return isServing ? { code: undefined, text: '' } : { code: code ?? -1, text }
}

function read(path: string): string {
  return readFileSync(join(user, path), 'utf8')
}

function write(path: string, text: string): void {
  writeFileSync(join(user, path), text)
}
