/**
 * `evenkeel up`: a control plane, the controllers of a module or several, and a live view of what they do.
 */
import { join, resolve } from 'node:path'
import type { Ready } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { createLogger, keepHeapHeadroom, prettyLines, SystemClock, type Logger } from 'evenkeel/unstable/base'
import type { Command, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { Screen } from '../live-view.ts'
import { ManagerFile } from '../managers.ts'
import { loadModule, type Address, type ServeContext, type UserModule } from '../modules.ts'
import { portOf, serveOptions } from './serve.ts'

const { audit: _, ...withoutAudit } = serveOptions

export const up: Command = {
  name: 'up',
  about: 'run a control plane with the controllers of modules, and watch them live',
  usage: 'MODULE ...',
  words: { least: 1, most: Infinity },
  completes: 'files',
  options: {
    ...withoutAudit,
    cluster: { type: 'boolean', about: 'run on the cluster of the kubeconfig instead of a plane of its own' },
    plain: { type: 'boolean', about: 'print the log line by line, also in a terminal' },
  },
  details:
    'A module exports controllers, and perhaps kinds, runnables and serve. Objects stay in the data folder; Ctrl-C leaves nothing else behind.',
  examples: ['evenkeel up app.ts', 'evenkeel up app.ts --memory --port 0', 'evenkeel up app.ts --cluster'],
  async run(call) {
    const modules = await Promise.all(call.words.map((file) => loadModule(file, call.io.cwd)))
    await runModules(modules, call)
    return 0
  },
}

async function runModules(modules: readonly UserModule[], call: Invocation): Promise<void> {
  const { values, io, json } = call
  const clock = new SystemClock()
  const endHeadroom = keepHeapHeadroom(clock)
  const folder = resolve(io.cwd, values.text('data') ?? 'data')
  const left = new ManagerFile(folder)
  const screen = new Screen(call, clock)
  const listening = new DeferredValue<string | undefined>()
  const onCluster = values.flag('cluster')
  const kubeconfig = values.text('kubeconfig')
  const stops: (() => unknown)[] = []
  // Stops everything when a module cannot serve its page: a caller would wait for it forever.
  const failing = new AbortController()
  const signal = AbortSignal.any([io.signal, failing.signal])
  let announced: Promise<void> | undefined
  const [{ runControllers }, { liveRules }] = await Promise.all([import('evenkeel'), import('evenkeel/testing')])
  const log = logTo(screen, { clock, color: io.stderr.isTTY === true && !screen.isLive })
  try {
    await runControllers(signal, {
      controllers: modules.flatMap(({ controllers }) => controllers),
      kinds: modules.flatMap(({ kinds }) => kinds),
      runnables: modules.flatMap(({ runnables }) => runnables),
      clock,
      log,
      rules: liveRules({ log }),
      embedded: !onCluster,
      ...(onCluster
        ? { ...(kubeconfig !== undefined && { kubeconfig }) }
        : { port: portOf(values.text('port') ?? '6443'), ...(!values.flag('memory') && { data: folder }) }),
      endpoints: {
        port: 0,
        onListening: (url) => {
          listening.set(url)
        },
      },
      onReady: (ready) => {
        announced = announce(ready, { modules, call, screen, left, endpoints: listening.value, stops, signal }).catch(
          (error: unknown) => {
            failing.abort(error)
          },
        )
      },
    })
  } finally {
    // A manager that does not listen by now never will, and no stop function may be added from here on.
    listening.set(undefined)
    await announced
    endHeadroom()
    await screen.stop()
    await Promise.allSettled(
      stops.map(async (stop) => {
        await stop()
      }),
    )
    if (!json && announced) io.stdout.write('Stopped.\n')
  }
  if (failing.signal.aborted) throw failing.signal.reason as Error
}

function logTo(screen: Screen, { clock, color }: { clock: SystemClock; color: boolean }): Logger {
  const write = (text: string): void => {
    screen.log(text)
  }
  return createLogger({ clock, sink: prettyLines(write, { color }) })
}

interface Announcing {
  readonly modules: readonly UserModule[]
  readonly call: Invocation
  readonly screen: Screen
  /** The file with the addresses of the managers. */
  readonly left: ManagerFile
  /** The address of the manager, which listens a moment after its creation. */
  readonly endpoints: Promise<string | undefined>
  /** Functions to call at the end. */
  readonly stops: (() => unknown)[]
  /** Aborts when everything stops. */
  readonly signal: AbortSignal
}

async function announce(
  { manager, url, embedded, kinds }: Ready,
  { modules, call, screen, left, endpoints, stops, signal }: Announcing,
): Promise<void> {
  const { io, json } = call
  // Pages act for users, not for controllers: their requests must not count for the permissions and rules of a program.
  const client = new Client({ transport: manager.transport, kinds, userAgent: 'evenkeel-cli', namespace: 'default' })
  const context: ServeContext = {
    client,
    manager,
    signal,
    endpointsOf: (name) => ({
      port: 0,
      onListening: (at) => {
        left.add(name, at).catch(() => undefined)
      },
    }),
    onStop: (stop) => {
      stops.push(stop)
    },
  }
  const served = await Promise.all(modules.map((module) => serveModule(module, context)))
  const addresses: readonly Address[] = [{ name: 'API server', url }, ...served.flat()]
  const debug = await endpoints
  if (debug === undefined) return
  if (embedded?.isDurable) {
    stops.push(() => left.remove())
    await left.open()
    await left.add(manager.name, debug)
  }
  if (json) io.stdout.write(`${JSON.stringify({ url, kubeconfig: embedded?.kubeconfig, manager: debug, addresses })}\n`)
  else
    await screen.begin({
      manager,
      client,
      kinds,
      heading: heading(addresses, { kubeconfig: embedded?.kubeconfig, io }),
    })
}

/** @throws {Failure} `bad-file`, with what it threw. */
async function serveModule({ path, serve }: UserModule, context: ServeContext): Promise<readonly Address[]> {
  try {
    return (await serve?.(context)) ?? []
  } catch (error) {
    throw new Failure(
      'bad-file',
      `serve of ${path} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function heading(
  addresses: readonly Address[],
  { kubeconfig, io: { cwd, env } }: { kubeconfig: string | undefined; io: Invocation['io'] },
): string {
  const width = Math.max(...addresses.map(({ name }) => name.length))
  const lines = addresses.map(({ name, url }) => `  ${name.padEnd(width)}  ${url}`)
  const name = env['npm_execpath'] === undefined ? 'evenkeel' : 'npx evenkeel'
  const isHere = kubeconfig === join(cwd, 'data', 'kubeconfig')
  const next = isHere
    ? [`  In another terminal, in this folder: ${name} get KIND, ${name} why KIND/NAME, ${name} --help`]
    : []
  return [
    'Evenkeel is up. Ctrl-C stops it.',
    '',
    ...lines,
    ...(kubeconfig === undefined ? [] : ['', `  export KUBECONFIG=${kubeconfig}`, ...next]),
  ].join('\n')
}

/** A value that comes later. */
class DeferredValue<T> {
  readonly value: Promise<T>
  #resolve: (value: T) => void = () => undefined

  constructor() {
    this.value = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  set(value: T): void {
    this.#resolve(value)
  }
}
