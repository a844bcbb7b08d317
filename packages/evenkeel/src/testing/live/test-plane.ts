/**
 * A control plane for one test: in memory, ready in milliseconds, stopped with the test.
 *
 * On the system clock it behaves like any control plane. On a simulated clock only promises settle between calls of
 * `advance`: an hour passes in no time, and every run of the test is the same.
 *
 * @example
 * await using plane = await startTestPlane({ kinds: [Website], controllers: [website] })
 * await plane.client.create(Website, { metadata: { name: 'a' }, spec: { image: 'x' } })
 * await plane.until(async () => (await plane.client.find(Deployment, { name: 'a' })) !== undefined)
 *
 * @example As a fixture of a test runner
 * const test = baseTest.extend({ plane: planeFixture({ controllers: [website], simulated: true }) })
 * test('a website gets its deployment', async ({ plane }) => { … })
 */
import type { Kind } from '#api'
import {
  createLogger,
  placeOf,
  prettyLines,
  SeededRandom,
  SimulatedClock,
  sleep,
  SystemClock,
  type Clock,
  type Logger,
  type LogRecord,
} from '#base'
import { Client } from '#client'
import { verbsOf, type ControllerDeclaration } from '#controller'
import { Manager, type ControllersOf, type ManagedContext } from '#manager'
import { startPlane, type Plane } from '#plane'
import type { CustomResourceOptions } from '#server'
import { isCallAction, type CallRequest } from '#verbs'
import { preloadModules } from '../initial-state.ts'

export interface TestPlaneOptions<Kinds extends readonly Kind[] = readonly Kind[]> {
  /** Kinds to serve, beside those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** Controllers to run. @default none */
  readonly controllers?: ControllersOf<Kinds>
  /** Streams of the kinds, such as `log`, and their other rules. @default none */
  readonly customResources?: readonly CustomResourceOptions[]
  /** Use a simulated clock, which moves only by `advance`. @default false */
  readonly simulated?: boolean
  /** Run the built-in controllers: garbage collection, namespaces. @default true */
  readonly builtin?: boolean
  readonly seed?: string
  /** @default errors of controllers, on stderr */
  readonly log?: Logger
}

export interface TestPlane extends AsyncDisposable {
  readonly client: Client
  readonly plane: Plane
  readonly manager: Manager | undefined
  readonly clock: Clock
  /** Advances simulated time. @throws {RangeError} on the system clock */
  advance(byMs: number): Promise<void>
  /**
   * Waits until the condition returns true: 4 seconds, or 10 of simulated time. A busy machine gets more.
   * @throws {Error} after the timeout, with the last failures of controllers; its cause is the last error of the condition
   */
  until(condition: () => boolean | Promise<boolean>, options?: { readonly timeoutMs?: number }): Promise<void>
  stop(): Promise<void>
}

export async function startTestPlane<const Kinds extends readonly Kind[] = readonly Kind[]>(
  options: TestPlaneOptions<Kinds> = {},
): Promise<TestPlane> {
  const {
    kinds = [],
    controllers = [],
    customResources,
    simulated = false,
    builtin = true,
    seed = '1',
    log: given,
  } = options as TestPlaneOptions
  if (simulated) await preloadModules()
  const clock = simulated ? new SimulatedClock() : new SystemClock()
  const errors = new ReconcileErrors({ clock, log: given })
  const random = new SeededRandom(seed)
  const plane = await startPlane({
    clock,
    random,
    kinds: definedKinds(kinds, controllers),
    ...(customResources && { customResources }),
    // As envtest does: pods in tests need no account and no token.
    admission: { disablePlugins: ['ServiceAccount'] },
    ...(builtin ? {} : { controllers: false }),
    ...(given && { log: given }),
  })
  answerActions(controllers, plane)
  try {
    return runTestPlane(plane, { controllers, clock, seed, errors })
  } catch (error) {
    // A declaration that the manager refuses must not leave a plane behind.
    await plane.stop()
    throw error
  }
}

interface RunTestPlaneOptions extends Required<Pick<TestPlaneOptions, 'controllers' | 'seed'>> {
  readonly clock: Clock
  readonly errors: ReconcileErrors
}

/** Starts the manager. @throws {RangeError} when it refuses a declaration. */
function runTestPlane(plane: Plane, { controllers, clock, seed, errors }: RunTestPlaneOptions): TestPlane {
  const client = new Client({
    transport: plane.transport,
    clock,
    random: new SeededRandom(`${seed} client`),
    namespace: 'default',
  })
  const stopping = new AbortController()
  const manager = controllers.length === 0 ? undefined : managerOf(plane, clock, { controllers, seed, log: errors.log })
  const running = manager?.run(stopping.signal)
  const advance = async (byMs: number): Promise<void> => {
    if (!(clock instanceof SimulatedClock))
      throw new RangeError('advance needs a simulated clock: start the plane with simulated: true')
    await clock.advance(byMs)
  }
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('the test is over'))
    await advanceUntilDone(clock, Promise.all([running, plane.stop()]))
  }
  return {
    client,
    plane,
    manager,
    clock,
    advance,
    stop,
    until: (condition, options) => until(condition, clock, { ...options, errors }),
    [Symbol.asyncDispose]: stop,
  }
}

function managerOf(
  { transport }: Plane,
  clock: Clock,
  { controllers = [], seed = '1', log }: Pick<TestPlaneOptions, 'controllers' | 'seed' | 'log'>,
): Manager {
  return new Manager({
    name: 'test',
    transport,
    clock,
    random: new SeededRandom(`${seed} manager`),
    controllers,
    leaderElection: false,
    children: { checkDeterminism: true },
    ...(log && { log }),
  })
}

const pollMs = 5
/** The most of the timeout that one look uses up: a busy machine gets as many looks as an idle one. */
const lookMsMax = 100

async function until(
  condition: () => boolean | Promise<boolean>,
  clock: Clock,
  options: { readonly timeoutMs?: number; readonly errors: ReconcileErrors },
): Promise<void> {
  // Test runners end a test after five seconds, and would hide which controller failed.
  const { timeoutMs = clock instanceof SimulatedClock ? 10_000 : 4_000, errors } = options
  let usedMs = 0
  let last: unknown
  for (;;) {
    const beganMs = clock.monotonic()
    try {
      if (await advanceUntilDone(clock, Promise.resolve(condition()))) return
      last = undefined
    } catch (error) {
      last = error
    }
    if (usedMs >= timeoutMs)
      throw new Error(
        `condition not met within ${timeoutMs} ms: ${condition.toString()}${errors.describe()}`,
        last === undefined ? undefined : { cause: last },
      )
    if (clock instanceof SimulatedClock) await clock.advance(pollMs)
    else await sleep(clock, pollMs)
    usedMs += Math.min(clock.monotonic() - beganMs, lookMsMax)
  }
}

/** Awaits a promise and advances simulated time while it is pending. */
async function advanceUntilDone<T>(clock: Clock, waiting: Promise<T>): Promise<T> {
  if (!(clock instanceof SimulatedClock)) return await waiting
  const progress = { isOver: false }
  const over = waiting.finally(() => {
    progress.isOver = true
  })
  over.catch(() => undefined)
  for (let turn = 0; !progress.isOver && turn < 10_000; turn++) await clock.advance(turn < 100 ? 0 : pollMs)
  return await over
}

/**
 * The kinds that are not built in, each version once: those of one kind become one definition. That of its controller comes last: it
 * has the actions, also when another controller owns objects of the kind.
 */
function definedKinds(given: readonly Kind[], controllers: readonly ControllerDeclaration[]): Kind[] {
  const named = controllers.flatMap(({ owns = [], ...declaration }) => [
    ...owns.map((one) => ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as Kind),
    ...verbsOf(declaration).flatMap((verb) => verb.kinds ?? []),
  ])
  const own = controllers.map(({ for: kind, verbs = [] }) => withActions(kind, verbs))
  return [
    ...new Map(
      [...given, ...named, ...own]
        .filter(({ schema }) => schema !== undefined)
        .map((kind) => [`${kind.group}/${kind.version} ${kind.kind}`, kind]),
    ).values(),
  ]
}

/** The kind with the actions of its controller. */
function withActions(kind: Kind, verbs: NonNullable<ControllerDeclaration['verbs']>): Kind {
  const actions = verbs.flatMap(({ action }) => action ?? [])
  return actions.length === 0 ? kind : { ...kind, actions: [...(kind.actions ?? []), ...actions] }
}

function answerActions(controllers: readonly ControllerDeclaration<Kind, ManagedContext>[], plane: Plane): void {
  for (const { for: kind, verbs = [] } of controllers) {
    for (const verb of verbs)
      if (isCallAction(verb))
        plane.onAction(kind, verb.action.name, (requestInfo) => verb.answer(requestInfo as CallRequest))
  }
}

/**
 * A control plane as a fixture: starts when a test uses it, stops when the test is over.
 *
 * Works with every runner whose fixtures are functions of a context and `use`; this file imports none.
 *
 * @param options the same for every test, or a function that makes them for each test
 */
export function planeFixture(
  options: TestPlaneOptions | (() => TestPlaneOptions) = {},
): (context: object, use: (plane: TestPlane) => Promise<void>) => Promise<void> {
  // Runners read from the pattern of the first parameter which other fixtures are needed.
  return async ({}, use) => {
    const plane = await startTestPlane(typeof options === 'function' ? options() : options)
    try {
      await use(plane)
    } finally {
      await plane.stop()
    }
  }
}

// The failures of controllers.

const entriesMax = 5

interface ReconcileError {
  readonly text: string
  count: number
}

/**
 * The failures of controllers in a test: printed as they happen, and quoted when a condition is not met.
 *
 * A test waits for an object that never comes; the reason is mostly a reconcile that throws. So errors go to stderr unless
 * the test has a logger of its own. There is one entry per controller, object and error; the latest are kept.
 */
class ReconcileErrors {
  /** The latest last. */
  readonly #entries = new Map<string, ReconcileError>()
  readonly log: Logger

  /** @param options.log where all lines go instead of stderr */
  constructor({ clock, log }: { clock: Clock; log?: Logger | undefined }) {
    const print = prettyLines((text) => process.stderr.write(text), { color: false })
    this.log = createLogger({
      clock,
      level: log ? 'debug' : 'error',
      sink: (record) => {
        this.#note(record)
        if (log) log[record.level](record.message, record.fields)
        else print(record)
      },
    })
  }

  /** The latest failures in lines; empty without any. */
  describe(): string {
    if (this.#entries.size === 0) return ''
    const lines = [...this.#entries.values()].map(
      ({ text, count }) => `  ${text}${count > 1 ? ` (${count} times)` : ''}`,
    )
    return `\nthe last failures of controllers:\n${lines.join('\n')}`
  }

  // Lines of lower levels have errors that are no failures: an aborted run.
  #note({ level, fields }: LogRecord): void {
    const { controller, object, error } = fields
    if (level !== 'error' || controller === undefined || !(error instanceof Error)) return
    const at = placeOf(error)
    const text = `${String(controller)} ${String(object)}: ${error.name}: ${error.message}${at === undefined ? '' : ` at ${at}`}`
    const count = (this.#entries.get(text)?.count ?? 0) + 1
    this.#entries.delete(text)
    this.#entries.set(text, { text, count })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax) break
      this.#entries.delete(oldest)
    }
  }
}
