/**
 * Replicas in processes of their own on one server, and what the server saw of them, in its own order.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import { Client } from '#client'
import { startServer, writeKubeconfig } from '#server'
import type { Server } from '#server'

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string }
}

const Lease = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const [runner, program] = ['../../../../../tools/run.mjs', './replica.fixture.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** One event on the server: the lease was acquired or renewed, or a client wrote. */
interface Happening {
  readonly version: number
  readonly what: 'lease' | 'write'
  readonly who: string
}

class Replica {
  readonly #child: ChildProcess
  readonly #waiting = new Set<{ readonly line: RegExp; readonly resolve: (found: string) => void }>()
  readonly lines: string[] = []

  constructor(env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [runner ?? '', program ?? ''], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let rest = ''
    this.#child.stdout?.on('data', (piece: Buffer) => {
      const lines = (rest + piece.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#hear(line)
    })
  }

  /** The first line like this from now on, or the last one so far. */
  async said(line: RegExp): Promise<string> {
    const found = this.lines.findLast((each) => line.test(each))
    return (
      found ??
      (await new Promise((resolve) => {
        this.#waiting.add({ line, resolve })
      }))
    )
  }

  /** The process itself, not the one that started it. */
  async signal(name: NodeJS.Signals): Promise<void> {
    process.kill(Number((await this.said(/^pid /)).slice(4)), name)
  }

  async stop(): Promise<void> {
    const exit = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined
    await this.signal('SIGTERM')
    await exit
  }

  /** For a test that failed. A process that has ended is not killed: another process may have its id by now. */
  kill(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    if (this.lines.some((line) => line.startsWith('pid '))) this.signal('SIGKILL').catch(() => undefined)
    else this.#child.kill()
  }

  #hear(line: string): void {
    this.lines.push(line)
    for (const waiting of this.#waiting) {
      if (!waiting.line.test(line)) continue
      this.#waiting.delete(waiting)
      waiting.resolve(line)
    }
  }
}

export class Stage {
  readonly #server: Server
  readonly #client: Client
  readonly #folder: string
  readonly #replicas: Replica[] = []
  readonly #happenings: Happening[] = []
  readonly #stopping = new AbortController()
  readonly #watching: Promise<unknown>
  #wakes: (() => void)[] = []

  private constructor(server: Server, folder: string) {
    this.#server = server
    this.#folder = folder
    this.#client = new Client({ transport: server.transport })
    this.#watching = Promise.allSettled([this.#follow(Lease), this.#follow(ConfigMap)])
  }

  static async open(): Promise<Stage> {
    const [server, folder] = [await startServer({ listen: {} }), await mkdtemp(join(tmpdir(), 'evenkeel-replicas-'))]
    const { url = '', token = '', caPem } = server.address ?? {}
    await writeKubeconfig(join(folder, 'kubeconfig'), { server: url, token, ...(caPem !== undefined && { caPem }) })
    return new Stage(server, folder)
  }

  start(
    identity: string,
    { thread = true, kubeconfig = join(this.#folder, 'kubeconfig') }: { thread?: boolean; kubeconfig?: string } = {},
  ): Replica {
    const replica = new Replica({ KUBECONFIG: kubeconfig, REPLICA: identity, THREAD: thread ? 'yes' : 'no' })
    this.#replicas.push(replica)
    return replica
  }

  /** A kubeconfig whose token comes from a program, and how often that was run. */
  async plugin(): Promise<{ readonly kubeconfig: string; readonly runs: () => Promise<number> }> {
    const [kubeconfig, log] = [join(this.#folder, 'plugin'), join(this.#folder, 'plugin-runs')]
    const { url = '', token = '', caPem = '' } = this.#server.address ?? {}
    const apiVersion = 'client.authentication.k8s.io/v1'
    const code = `require('node:fs').appendFileSync(${JSON.stringify(log)}, '.'); console.log(JSON.stringify({ apiVersion: '${apiVersion}', kind: 'ExecCredential', status: { token: '${token}' } }))`
    await writeFile(log, '')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'it',
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
        clusters: [
          { name: 'it', cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
        ],
        users: [
          {
            name: 'it',
            user: { exec: { apiVersion, command: process.execPath, args: ['-e', code], interactiveMode: 'Never' } },
          },
        ],
      }),
    )
    return { kubeconfig, runs: async () => (await readFile(log, 'utf8')).length }
  }

  /** Makes a replica compute for so long, in a reconcile, once it leads. */
  async block(who: string, ms: number): Promise<void> {
    await this.#client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'block', namespace: 'default' },
      data: { who, ms: String(ms) },
    } as KubeObject)
  }

  /** Resolves when a replica has made so many more objects than now. */
  async writes(who: string, more: number): Promise<void> {
    const count = (): number => this.#happenings.filter((each) => each.what === 'write' && each.who === who).length
    const goal = count() + more
    while (count() < goal)
      await new Promise<void>((resolve) => {
        this.#wakes.push(resolve)
      })
  }

  /** Writes by a process that did not hold the lease at that version of the server. */
  get unlawful(): string[] {
    let holder = ''
    const found: string[] = []
    for (const { version, what, who } of this.#happenings.toSorted((a, b) => a.version - b.version)) {
      if (what === 'lease') holder = who
      else if (who !== holder) found.push(`${who} wrote version ${version} while ${holder || 'nobody'} held the lease`)
    }
    return found
  }

  /** Who held the lease, one after the other. */
  get holders(): string[] {
    const held = this.#happenings.filter(({ what }) => what === 'lease').map(({ who }) => who)
    return held.filter((who, index) => who !== '' && who !== held.slice(0, index).findLast((each) => each !== ''))
  }

  async close(): Promise<void> {
    for (const replica of this.#replicas) replica.kill()
    this.#stopping.abort()
    await this.#server.stop({ graceMs: 100 })
    await this.#watching
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #follow(kind: typeof Lease | typeof ConfigMap): Promise<void> {
    for await (const event of this.#client.watch(kind, { namespace: 'default', signal: this.#stopping.signal })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const { metadata, spec } = event.object as LeaseObject
      if (metadata.name === 'block') continue
      const what = kind === Lease ? ('lease' as const) : ('write' as const)
      const who = what === 'lease' ? (spec?.holderIdentity ?? '') : (metadata.name?.split('-')[0] ?? '')
      this.#happenings.push({ version: Number(metadata.resourceVersion), what, who })
      for (const wake of this.#wakes.splice(0)) wake()
    }
  }
}
