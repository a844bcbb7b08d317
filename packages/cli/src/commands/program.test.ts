/**
 * One shape of program: `await run(...)` by itself, under `up`, `up --watch`, `explore`, `generate` and a debugger.
 */
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { typed } from '../fixtures/cli.fixture.ts'
import type * as Greeting from '../fixtures/greeting.fixture.ts'
import { startFile, startProcess } from '../fixtures/process.fixture.ts'
import { pausedProgram } from '../fixtures/inspector.fixture.ts'

const program = fileURLToPath(new URL('../fixtures/greeting.fixture.ts', import.meta.url))
const databases = fileURLToPath(new URL('../fixtures/databases.fixture.ts', import.meta.url))
const page = fileURLToPath(new URL('../../../../docs/guides/on-a-cluster.md', import.meta.url))
const greeting = (who: string, name = 'a'): string =>
  `{ apiVersion: test.dev/v1, kind: Greeting, metadata: { name: ${name} }, spec: { who: ${who} } }`
/** What `explore` reads. */
const exported: keyof typeof Greeting = 'scenario'
let folder: string

interface Rule {
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}
let stops: (() => Promise<unknown>)[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-program-'))
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
  await rm(folder, { recursive: true, force: true })
})

/** Ends with the test. */
function ending(started: ReturnType<typeof startProcess>): ReturnType<typeof startProcess> {
  stops.push(async () => {
    started.child.kill('SIGTERM')
    await started.ended
  })
  return started
}

/** Applies a greeting and waits until it is ready. */
async function greet(who: string): Promise<string> {
  const applied = await typed(['apply', '-f', '-'], { cwd: folder, stdin: greeting(who) })
  expect(applied, applied.err).toMatchObject({ code: 0 })
  for (;;) {
    const { out } = await typed(['get', 'greeting/a', '-o', 'json'], { cwd: folder })
    const { status } = JSON.parse(out) as { status?: { text?: string } }
    if (status?.text !== undefined) return status.text
  }
}

describe('a program that calls run', () => {
  test('F4: runs by itself on ./data, where commands find its server and its manager', async () => {
    const started = ending(startFile(program, folder))
    const said = await started.until(/Ctrl-C stops it/)
    expect(said).toContain('npx evenkeel why greeting/NAME')
    expect(await greet('you')).toBe('Hello, you!')
    const why = await typed(['why', 'greeting/a'], { cwd: folder })
    expect(why.out).toMatch(/^Is it ready\? Yes/m)
    expect(why.out).toContain('Why did its controller run? The ledger has')
    expect(await readFile(join(folder, 'data', '.gitignore'), 'utf8')).toBe('*\n')
    expect(JSON.parse(await readFile(join(folder, 'data', 'manager.json'), 'utf8'))).toMatchObject({
      managers: [{ name: 'greeting-controller' }],
    })
  })

  test('F4: hands its controllers to up, which starts one server', async () => {
    const started = ending(startProcess(['up', program, '--port', '0', '--json'], folder))
    const { kubeconfig } = JSON.parse(await started.until(/\n/)) as { kubeconfig: string }
    expect(kubeconfig).toBe(join(folder, 'data', 'kubeconfig'))
    expect(await greet('up')).toBe('Hello, up!')
  })

  test('F4: up --memory keeps nothing, but commands find it', async () => {
    const started = startProcess(['up', program, '--port', '0', '--memory', '--json'], folder)
    await started.until(/\n/)
    expect(await greet('memory')).toBe('Hello, memory!')
    started.child.kill('SIGTERM')
    expect(await started.ended).toMatchObject({ code: 0 })
    const again = ending(startProcess(['up', program, '--port', '0', '--memory', '--json'], folder))
    await again.until(/\n/)
    expect(await typed(['get', 'greetings', '-o', 'name'], { cwd: folder })).toMatchObject({ code: 0, out: '' })
  })

  test(`F4: can be explored with the ${exported} that it exports`, async () => {
    const { code, out, err } = await startProcess(['explore', program, '--tier', '0', '--json'], folder).ended
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(JSON.parse(out)).toMatchObject({ failures: [] })
  })

  test('F7: generate prints its CRDs and roles, and starts nothing', async () => {
    const { code, out } = await startProcess(['generate', program, '--namespace', 'greetings', '--json'], folder).ended
    const { items } = JSON.parse(out) as { items: { kind: string; metadata: { name: string; namespace?: string } }[] }
    expect(code).toBe(0)
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'CustomResourceDefinition greetings.test.dev',
      'ServiceAccount greeting-controller',
      'ClusterRole greeting-controller',
      'ClusterRoleBinding greeting-controller',
      'Role greeting-controller',
      'RoleBinding greeting-controller',
    ])
  })

  test('F7: generate prints the CRDs of the verbs, and the permissions that follow from them', async () => {
    const words = ['generate', databases, '--namespace', 'databases', '--json']
    const { code, out } = await startProcess(words, folder).ended
    const { items } = JSON.parse(out) as { items: { kind: string; metadata: { name: string }; rules?: Rule[] }[] }
    const namesOf = (kind: string): string[] => items.filter((item) => item.kind === kind).map((it) => it.metadata.name)
    expect(code).toBe(0)
    expect(namesOf('CustomResourceDefinition')).toEqual([
      'externalrefs.evenkeel.dev',
      'operations.evenkeel.dev',
      'databases.test.dev',
    ])
    const rules = items.find(({ kind }) => kind === 'ClusterRole')?.rules ?? []
    const allowed = new Set(
      rules.flatMap(({ resources, verbs }) => resources.flatMap((one) => verbs.map((verb) => `${verb} ${one}`))),
    )
    // The driver's record, its finalizer, and what an operation needs to be performed and to expire.
    for (const need of ['create externalrefs', 'update databases', 'list operations', 'delete operations'])
      expect(allowed).toContain(need)
    expect(allowed).toContain('patch operations/status')
    expect(readFileSync(page, 'utf8')).toContain(
      `$ npx evenkeel generate databases.ts --namespace databases --json | jq -r '.items[] | .kind + " " + .metadata.name'\n${items
        .map(({ kind, metadata }) => `${kind} ${metadata.name}\n`)
        .join('')}`,
    )
  })

  test('F16: up --only runs the controllers with these names, and knows them', async () => {
    const { code, err } = await startProcess(['up', program, '--port', '0', '--only', 'greting'], folder).ended
    expect(code).toBe(2)
    expect(err).toContain('no controller is called "greting": there are greeting\nTry: --only greeting')
  })
})

describe('F16: up --watch', () => {
  test('starts the program again on a change, keeps objects, and reports what does not load', async () => {
    await mkdir(join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const file = join(folder, 'app.ts')
    await cp(program, file)
    const source = await readFile(file, 'utf8')
    const here = (text: string): string =>
      text.replace(/'evenkeel(\/[^']*)?'/g, (_, path: string | undefined) => `'${resolved(`evenkeel${path ?? ''}`)}'`)
    await writeFile(file, here(source))
    const started = ending(startProcess(['up', file, '--port', '0', '--watch', '--json'], folder))
    await started.until(/"manager"/)
    expect(await greet('you')).toBe('Hello, you!')
    await writeFile(file, here(source).replace('Hello, ', 'Good morning, '))
    await started.until(/app\.ts changed[\s\S]*"manager"/)
    for (let text = ''; text !== 'Good morning, you!';) text = await greet('you')
    await writeFile(file, 'const broken = {')
    await started.until(/Waiting for a change/, 'err')
    expect(await started.until(/bad-file/)).toMatch(/cannot load .*app\.ts/)
    await writeFile(file, here(source))
    await started.until(/starting the program\.[\s\S]*"manager"/)
    for (let text = ''; text !== 'Hello, you!';) text = await greet('you')
  })
})

/** The address of a source, which a file outside of the repository can import. */
function resolved(name: string): string {
  return import.meta.resolve(name)
}

test('F16b: while a reconcile stands at a breakpoint, the server answers', async () => {
  const started = ending(startProcess(['up', program, '--port', '0', '--json'], folder, { inspect: true }))
  await started.until(/\n/)
  const debuggee = await pausedProgram(await started.until(/ws:\/\/\S+/, 'err'), async () => {
    const applied = await typed(['apply', '-f', '-'], { cwd: folder, stdin: greeting('debugger') })
    expect(applied).toMatchObject({ code: 0 })
  })
  try {
    const { code, out } = await typed(['get', 'greeting/a', '-o', 'name'], { cwd: folder })
    expect({ code, out }).toEqual({ code: 0, out: 'greeting/a\n' })
    expect(debuggee.isPaused).toBe(true)
  } finally {
    await debuggee.resume()
  }
})
