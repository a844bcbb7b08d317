/**
 * `evenkeel up`: a control plane, the controllers of a module or several, and a live view of what they do.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Ready } from 'evenkeel'
import type { Kind } from 'evenkeel/api'
import { createLogger, prettyLines, SystemClock } from 'evenkeel/unstable/base'
import type { Call, Command } from '../../frame/command.ts'
import { managerFileName } from '../../objects/manager-report.ts'
import { LiveView } from '../../programs/live-view.ts'
import { loadModule } from '../../programs/load-module.ts'
import type { Address, UserModule } from '../../programs/load-module.ts'
import { portOf, serving } from './serve.ts'

const { audit: _, ...withoutAudit } = serving

export const up: Command = {
  name: 'up',
  about: 'run a control plane with the controllers of modules, and watch them live',
  usage: 'MODULE ...',
  words: { least: 1, most: Infinity },
  completes: 'files',
  options: {
    ...withoutAudit,
    'cluster': { type: 'boolean', about: 'run on the cluster of the kubeconfig instead of a plane of its own' },
    'plain': { type: 'boolean', about: 'print the log line by line, also in a terminal' },
  },
  details: 'A module exports controllers, and perhaps kinds, runnables and serve. Objects stay in the data folder; Ctrl-C leaves nothing else behind.',
  examples: ['evenkeel up app.ts', 'evenkeel up app.ts --memory --port 0', 'evenkeel up app.ts --cluster'],
  async run(call) {
    const modules = await Promise.all(call.words.map((file) => loadModule(file, call.io.cwd)))
    await runModules(modules, call)
    return 0
  },
}

async function runModules(modules: readonly UserModule[], call: Call): Promise<void> {
  const { values, io, json } = call
  const clock = new SystemClock()
  const folder = resolve(io.cwd, values.text('data') ?? 'data')
  const left = join(folder, managerFileName)
  const screen = new Screen(call, clock)
  const listening = new Late<string>()
  const onCluster = values.flag('cluster')
  const kubeconfig = values.text('kubeconfig')
  const stops: (() => unknown)[] = []
  const [{ runControllers }, { liveRules }] = await Promise.all([import('evenkeel'), import('evenkeel/testing')])
  const log = createLogger({ clock, sink: prettyLines((text) => { screen.log(text) }, { color: io.stderr.isTTY === true && !screen.isLive }) })
  try {
    await runControllers(io.signal, {
      controllers: modules.flatMap(({ controllers }) => controllers), kinds: modules.flatMap(({ kinds }) => kinds), runnables: modules.flatMap(({ runnables }) => runnables),
      clock, log, rules: liveRules({ log }),
      embedded: !onCluster, ...onCluster ? { ...kubeconfig !== undefined && { kubeconfig } } : { port: portOf(values.text('port') ?? '6443'), ...!values.flag('memory') && { data: folder } },
      endpoints: { port: 0, onListening: (url) => { listening.set(url) } },
      onReady: (ready) => { void announce(ready, { modules, call, screen, left, endpoints: listening.value, stops }).catch((error: unknown) => { screen.log(`${String(error)}\n`) }) },
    })
  } finally {
    screen.stop()
    for (const stop of stops) await stop()
    await rm(left, { force: true })
    if (!json) io.stdout.write('Stopped.\n')
  }
}

interface Announcing {
  readonly modules: readonly UserModule[]
  readonly call: Call
  readonly screen: Screen
  readonly left: string
  /** Where the manager can be asked; it listens a moment after it was made. */
  readonly endpoints: Promise<string>
  /** What is called at the end. */
  readonly stops: (() => unknown)[]
}

async function announce({ manager, url, embedded, kinds }: Ready, { modules, call, screen, left, endpoints, stops }: Announcing): Promise<void> {
  const { io, json } = call
  const served = await Promise.all(modules.map(({ serve }) => serve?.({ client: manager.client, manager, signal: io.signal, onStop: (stop) => { stops.push(stop) } }) ?? []))
  const addresses: readonly Address[] = [{ name: 'API server', url }, ...served.flat()]
  const debug = await endpoints
  if (embedded?.isDurable) await writeFile(left, `${JSON.stringify({ url: debug, pid: process.pid })}\n`, { mode: 0o600 })
  if (json) io.stdout.write(`${JSON.stringify({ url, kubeconfig: embedded?.kubeconfig, manager: debug, addresses })}\n`)
  else screen.begin(manager, { kinds, heading: heading(addresses, embedded?.kubeconfig) })
}

function heading(addresses: readonly Address[], kubeconfig: string | undefined): string {
  const width = Math.max(...addresses.map(({ name }) => name.length))
  const lines = addresses.map(({ name, url }) => `  ${name.padEnd(width)}  ${url}`)
  return ['Evenkeel is up. Ctrl-C stops it.', '', ...lines, ...kubeconfig === undefined ? [] : ['', `  export KUBECONFIG=${kubeconfig}`, '  evenkeel get all kinds of things: evenkeel --help']].join('\n')
}

/** A value that comes later. */
class Late<T> {
  readonly value: Promise<T>
  #resolve: (value: T) => void = () => undefined

  constructor() {
    this.value = new Promise((resolve) => { this.#resolve = resolve })
  }

  set(value: T): void {
    this.#resolve(value)
  }
}

/** The live view in a terminal, lines of a log elsewhere. */
class Screen {
  readonly #call: Call
  readonly #clock: SystemClock
  readonly isLive: boolean
  #view: LiveView | undefined

  constructor(call: Call, clock: SystemClock) {
    this.#call = call
    this.#clock = clock
    this.isLive = call.io.stdout.isTTY === true && !call.values.flag('plain') && !call.json
  }

  begin(manager: Ready['manager'], { kinds, heading: text }: { kinds: readonly Kind[], heading: string }): void {
    const { stdout } = this.#call.io
    if (!this.isLive) stdout.write(`${text}\n\n`)
    else {
      this.#view = new LiveView({ stdout, manager, kinds, heading: text, clock: { now: () => this.#clock.now(), every: (ms, call) => every(this.#clock, ms, call) } })
      this.#view.start()
    }
  }

  log(text: string): void {
    if (this.#view) this.#view.tell(text)
    else this.#call.io.stderr.write(text)
  }

  stop(): void {
    this.#view?.stop()
    this.#view = undefined
  }
}

function every(clock: SystemClock, ms: number, call: () => void): () => void {
  let cancel = clock.after(ms, again)
  function again(): void {
    call()
    cancel = clock.after(ms, again)
  }
  return () => { cancel() }
}
