/**
 * The demo behind the page: a controller that can be stopped, started and replaced by another step, and the log.
 *
 * A controller needs none of this: it simulates the actions of users, other clients and faults.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { Manager } from 'evenkeel/controller'
import type { ManagerOptions } from 'evenkeel/controller'
import { createLogger, SystemClock } from 'evenkeel/unstable/base'
import type { LogRecord } from 'evenkeel/unstable/base'
import { ExternalRef, ExternalSweep } from 'evenkeel/verbs'
import { foo, Shape } from './kinds.ts'
import type { DrawnShape } from './kinds.ts'
import { shapesClient } from './service/http.ts'
import type { ShapesInMemory } from './service/shapes-in-memory.ts'
import { oneWay } from './steps/1-one-way.ts'
import { steps } from './steps/all.ts'
import type { Step } from './steps/step.ts'

const { namespace } = foo
const saidMax = 60

/** An object as the page shows it. */
interface ShownObject {
  readonly name: string
  readonly type: string
  readonly color: string
  readonly finalizers: readonly string[]
  readonly isDeleting: boolean
  /** The id of its shape, if the status has it. */
  readonly id: string | undefined
  readonly conditions: readonly {
    readonly type: string
    readonly status: string
    readonly reason?: string
    readonly message?: string
  }[]
}

/** What the buttons depend on. */
export interface Facts {
  readonly step: Step
  readonly isRunning: boolean
  readonly isDown: boolean
  readonly objects: readonly ShownObject[]
  /** The object of the buttons. */
  readonly foo: ShownObject | undefined
  /** The tracking objects of this demo. */
  readonly refs: readonly { readonly name: string }[]
  readonly shapes: readonly DrawnShape[]
  readonly hasHistory: boolean
}

export interface Said {
  readonly time: string
  readonly text: string
  readonly by: 'controller' | 'you' | 'others' | 'faults' | 'reset'
  /** How often it was said in a row. */
  readonly times: number
}

/** When something began, and where it stands in the log. */
interface Place {
  readonly number: number
  readonly time: string
}

interface DemoOptions {
  readonly client: Client
  readonly transport: ManagerOptions['transport'] & object
  readonly service: ShapesInMemory
  /** The address of the service. */
  readonly url: string
  /** The endpoints of the manager. @default none */
  readonly endpoints?: ManagerOptions['endpoints']
}

export class Demo {
  readonly #options: DemoOptions
  readonly #clock = new SystemClock()
  readonly #said: (Said & { readonly place: number })[] = []
  #nextPlace = 0
  #turn: Promise<unknown> = Promise.resolve()
  #step: Step = oneWay
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  #onChange: () => void = () => undefined

  constructor(options: DemoOptions) {
    this.#options = options
  }

  onChange(call: () => void): void {
    this.#onChange = call
    this.#options.service.onChange(call)
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** What happened, oldest first. */
  get said(): readonly Said[] {
    return this.#said.map(({ place: _, ...said }) => said)
  }

  /** Reports a change that no watch reports. */
  tell(): void {
    this.#onChange()
  }

  async facts(): Promise<Facts> {
    const { client, service } = this.#options
    const [{ items }, refs] = await Promise.all([client.list(Shape, { namespace }), client.list(ExternalRef)])
    const objects = items.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      type: spec.type,
      color: spec.color,
      finalizers: metadata.finalizers ?? [],
      isDeleting: metadata.deletionTimestamp !== undefined,
      id: status?.external?.id ?? status?.id,
      conditions: status?.conditions ?? [],
    }))
    return {
      step: this.#step,
      isRunning: this.isRunning,
      isDown: service.isDown,
      objects,
      foo: objects.find(({ name }) => name === foo.name),
      refs: refs.items.filter(({ spec }) => spec.system === 'shapes').map(({ metadata: { name } }) => ({ name })),
      shapes: [...service.shapes.values()],
      hasHistory: this.#said.length > 0,
    }
  }

  start(): void {
    if (this.#running) return
    const { transport, url, endpoints = false } = this.#options
    const stop = new AbortController()
    const log = createLogger({
      clock: this.#clock,
      sink: (record) => {
        this.#record(record)
      },
    })
    const controllers = this.#step.controllers({
      external: { shapes: shapesClient(url) },
      explain: (text) => {
        this.say(text)
      },
    })
    const manager = new Manager({ name: 'shapes', transport, controllers, leaderElection: false, log, endpoints })
    this.#running = {
      stop,
      done: manager.run(stop.signal).catch((error: unknown) => {
        this.say(`the controller ended: ${String(error)}`)
      }),
    }
    this.#onChange()
  }

  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    running?.stop.abort(new Error('stopped'))
    await running?.done
    this.#onChange()
  }

  /** Replaces the controller by that of another step; objects and shapes stay. */
  choose(number: number): Promise<void> {
    const step = steps.find((each) => each.number === number)
    if (!step) throw new RangeError(`unknown step ${number}`)
    return this.inTurn(async () => {
      const wasRunning = this.isRunning
      await this.stop()
      this.#step = step
      if (wasRunning) this.start()
      this.#onChange()
    })
  }

  /** As after the start, in the same step: no objects, no shapes, no log, service and controller up. */
  async reset(): Promise<void> {
    const { client, service } = this.#options
    await this.stop()
    const [shapes, refs, sweeps] = await Promise.all([
      client.list(Shape, { namespace }),
      client.list(ExternalRef),
      client.list(ExternalSweep),
    ])
    for (const object of shapes.items) await erase(client, object)
    for (const ref of refs.items) if (ref.spec.system === 'shapes') await erase(client, ref)
    for (const sweep of sweeps.items) if (sweep.report.system === 'shapes') await erase(client, sweep)
    // After the objects: what an earlier step drew and forgot has no other trace.
    service.reset()
    this.#said.length = 0
    this.start()
  }

  /** Runs one action after the other: two pages, or two fast presses, do not mix. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => undefined)
    return done
  }

  /** A place in the log for what begins now and is reported when it is done. */
  takePlace(): Place {
    return { number: this.#nextPlace++, time: new Date(this.#clock.now()).toISOString() }
  }

  say(text: string, { by = 'controller', place = this.takePlace() }: { by?: Said['by']; place?: Place } = {}): void {
    const last = this.#said.at(-1)
    if (by === 'controller' && last?.text === text)
      this.#said[this.#said.length - 1] = { ...last, times: last.times + 1 }
    else this.#said.push({ time: place.time, text, by, place: place.number, times: 1 })
    this.#said.sort((a, b) => a.place - b.place)
    this.#said.splice(0, this.#said.length - saidMax)
    this.#onChange()
  }

  #record({ level, message, fields }: LogRecord): void {
    if (level === 'error' || level === 'warn')
      this.say(`${message}${fields['error'] instanceof Error ? `: ${fields['error'].message}` : ''}`)
  }
}

/** Deletes an object without waiting for the controllers of its finalizers. */
async function erase(client: Client, object: KubeObject): Promise<void> {
  for (const finalizer of object.metadata.finalizers ?? []) await client.removeFinalizer(object, finalizer)
  await client.delete(object, { ignoreNotFound: true })
}
