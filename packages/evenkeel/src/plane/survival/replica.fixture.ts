/**
 * A program of its own: one of several replicas. While it leads it makes one object after the other, under its name.
 *
 * `KUBECONFIG` says where, `REPLICA` who, `THREAD=no` that the main thread renews the lease. It says on stdout what it is
 * (`pid N`) and what it becomes (`leading`, `lost`). Its controller blocks the event loop for as many milliseconds as a
 * ConfigMap that names it says, once.
 */
import { createLogger, jsonLines, sleep, SystemClock } from '#base'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import { loadConfig } from '#client'
import { Manager, stopSignal } from '#manager'

const clock = new SystemClock()
const identity = process.env['REPLICA'] ?? ''
const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const manager = new Manager({
  name: 'replicas',
  config: await loadConfig(),
  log: createLogger({
    clock,
    level: 'warn',
    sink: jsonLines((text) => {
      process.stdout.write(text)
    }),
  }),
  leaderElection: {
    identity,
    leaseMs: 2000,
    renewMs: 1400,
    retryMs: 300,
    thread: process.env['THREAD'] !== 'no',
    onState: ({ state }) => {
      say(state)
    },
  },
})

manager.add(async (signal, { client }) => {
  while (!signal.aborted) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: `${identity}-`, namespace: 'default' },
    }
    // As bad as it gets: the signal is not passed on, so only the gate stands between a late write and the server.
    await client.create(object).catch((error: unknown) => {
      say(`refused ${String(error)}`)
    })
    await sleep(clock, 10)
  }
})

interface Blocking extends KubeObject {
  readonly data?: { readonly who?: string; readonly ms?: string }
}

let hasBlocked = false
manager.addController({
  name: 'blocking',
  for: declareKind<Blocking>({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false }),
  reconcile({ data }) {
    if (data?.who !== identity || hasBlocked) return
    hasBlocked = true
    say('blocking')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(data.ms))
    say('blocked')
  },
})

process.on('unhandledRejection', (error) => {
  say(`unhandled ${String(error)}`)
})
const { signal } = stopSignal()
say(`pid ${process.pid}`)
await manager.run(signal)
say('done')
