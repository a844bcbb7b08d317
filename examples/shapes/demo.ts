/**
 * The demo behind the page: a controller that can be stopped, started and replaced by another step, and the mishaps.
 *
 * A controller needs none of this: it simulates the actions of users and accidents.
 */
import type { Client } from 'evenkeel/client'
import { Manager } from 'evenkeel/controller'
import type { ManagerOptions } from 'evenkeel/controller'
import { createLogger, SystemClock } from 'evenkeel/unstable/base'
import type { LogRecord } from 'evenkeel/unstable/base'
import { ExternalRef } from 'evenkeel/verbs'
import { Shape } from './kinds.ts'
import type { DrawnShape, ShapeObject } from './kinds.ts'
import { shapesClient } from './service/http.ts'
import type { ShapesInMemory } from './service/shapes-in-memory.ts'
import { steps } from './steps/all.ts'
import type { Step } from './steps/step.ts'

const place = { namespace: 'default' }
const saidMax = 60

export interface DemoState {
  readonly step: Pick<Step, 'number' | 'title' | 'does' | 'lacks'>
  readonly steps: readonly Pick<Step, 'number' | 'title'>[]
  readonly isRunning: boolean
  readonly isDown: boolean
  readonly objects: readonly ShapeObject[]
  readonly refs: readonly { readonly name: string }[]
  readonly shapes: readonly DrawnShape[]
  /** The explanations of the controller, newest last. */
  readonly said: readonly { readonly time: string; readonly text: string; readonly by: 'controller' | 'you' }[]
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
  readonly #said: DemoState['said'][number][] = []
  #step: Step = steps.at(-1) ?? (steps[0] as Step)
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

  /** Reports a change that no watch reports. */
  tell(): void {
    this.#onChange()
  }

  async state(): Promise<DemoState> {
    const { client, service } = this.#options
    const [objects, refs] = await Promise.all([client.list(Shape, place), client.list(ExternalRef)])
    return {
      step: pick(this.#step),
      steps: steps.map(({ number, title }) => ({ number, title })),
      isRunning: this.isRunning,
      isDown: service.isDown,
      objects: objects.items as unknown as readonly ShapeObject[],
      refs: refs.items.map(({ metadata }) => ({ name: metadata.name })),
      shapes: [...service.shapes.values()],
      said: this.#said,
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
        this.say(text, 'controller')
      },
    })
    const manager = new Manager({ name: 'shapes', transport, controllers, leaderElection: false, log, endpoints })
    this.#running = {
      stop,
      done: manager.run(stop.signal).catch((error: unknown) => {
        this.say(`the controller ended: ${String(error)}`, 'controller')
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

  async choose(number: number): Promise<void> {
    const step = steps.find((each) => each.number === number)
    if (!step) throw new RangeError(`unknown step ${number}`)
    const wasRunning = this.isRunning
    await this.stop()
    this.#step = step
    if (wasRunning) this.start()
    this.#onChange()
  }

  say(text: string, by: 'controller' | 'you'): void {
    if (this.#said.at(-1)?.text === text) return
    this.#said.push({ time: new Date(this.#clock.now()).toISOString(), text, by })
    this.#said.splice(0, this.#said.length - saidMax)
    this.#onChange()
  }

  #record({ level, message, fields }: LogRecord): void {
    if (level === 'error' || level === 'warn')
      this.say(`${message}${fields['error'] instanceof Error ? `: ${fields['error'].message}` : ''}`, 'controller')
  }
}

function pick({ number, title, does, lacks }: Step): DemoState['step'] {
  return { number, title, does, lacks }
}
