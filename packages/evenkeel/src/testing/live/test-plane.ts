/**
 * A control plane of its own for every test: ready in milliseconds, in memory, gone with the test.
 *
 * On the machine's clock it behaves as any other. On a simulated one nothing happens between `advance` calls but what
 * waits on promises alone: an hour passes in no time, and every run of the test is the same.
 *
 * @example
 * await using plane = await startTestPlane({ kinds: [Website], controllers: [website] })
 * await plane.client.create(Website, { metadata: { name: 'a' }, spec: { image: 'x' } })
 * await plane.until(async () => (await plane.client.find(Deployment, { name: 'a' })) !== undefined)
 */
import type { Kind } from '#api'
import { SeededRandom, SimulatedClock, sleep, SystemClock, type Clock, type Logger } from '#base'
import { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import { Manager, type ManagedContext } from '#manager'
import { startPlane, type Plane } from '#plane'
import { isCallAction, type CallRequest } from '#verbs'
import { preloadModules } from '../initial-state.ts'

export interface TestPlaneOptions {
  /** Kinds to serve, beside those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** Run these as well. @default none */
  readonly controllers?: readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** A clock that stands still until it is told to move. @default false */
  readonly simulated?: boolean
  /** Also run what a plane runs: garbage collection, namespaces. @default true */
  readonly builtin?: boolean
  readonly seed?: string
  readonly log?: Logger
}

export interface TestPlane extends AsyncDisposable {
  readonly client: Client
  readonly plane: Plane
  readonly manager: Manager | undefined
  readonly clock: Clock
  /** Lets simulated time pass. @throws {RangeError} on the machine's clock */
  advance(byMs: number): Promise<void>
  /** Waits until something is so. @throws {Error} when it is not so for a long time, with the last error if there was one */
  until(isSo: () => boolean | Promise<boolean>, options?: { readonly timeoutMs?: number }): Promise<void>
  stop(): Promise<void>
}

export async function startTestPlane({
  kinds = [],
  controllers = [],
  simulated = false,
  builtin = true,
  seed = '1',
  log,
}: TestPlaneOptions = {}): Promise<TestPlane> {
  if (simulated) await preloadModules()
  const clock = simulated ? new SimulatedClock() : new SystemClock()
  const random = new SeededRandom(seed)
  const plane = await startPlane({
    clock,
    random,
    kinds: definedKinds(kinds, controllers),
    ...(builtin ? {} : { controllers: false }),
    ...(log && { log }),
  })
  answerActions(controllers, plane)
  const client = new Client({
    transport: plane.transport,
    clock,
    random: new SeededRandom(`${seed} client`),
    namespace: 'default',
  })
  const stopping = new AbortController()
  const manager =
    controllers.length === 0
      ? undefined
      : new Manager({
          name: 'test',
          transport: plane.transport,
          clock,
          random: new SeededRandom(`${seed} manager`),
          controllers,
          leaderElection: false,
          children: { checkDeterminism: true },
          ...(log && { log }),
        })
  const running = manager?.run(stopping.signal)
  const advance = async (byMs: number): Promise<void> => {
    if (!(clock instanceof SimulatedClock))
      throw new RangeError('time passes by itself here: ask for a simulated clock to move it')
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
    until: (isSo, options) => until(isSo, clock, options),
    [Symbol.asyncDispose]: stop,
  }
}

const pollMs = 5

async function until(
  isSo: () => boolean | Promise<boolean>,
  clock: Clock,
  { timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const endMs = clock.monotonic() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      if (await advanceUntilDone(clock, Promise.resolve(isSo()))) return
      last = undefined
    } catch (error) {
      last = error
    }
    if (clock.monotonic() >= endMs)
      throw new Error(
        `after ${timeoutMs} ms it is still not so: ${isSo.toString()}`,
        last === undefined ? undefined : { cause: last },
      )
    if (clock instanceof SimulatedClock) await clock.advance(pollMs)
    else await sleep(clock, pollMs)
  }
}

/** Waits for something that may need time to pass. */
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

/** Those that are not built in, each once. */
function definedKinds(given: readonly Kind[], controllers: readonly ControllerDeclaration[]): Kind[] {
  const kinds = controllers.flatMap(({ for: kind, owns = [], verbs = [] }) => [
    withActions(kind, verbs),
    ...owns.map((one) => ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as Kind),
    ...verbs.flatMap((verb) => verb.kinds ?? []),
  ])
  return [
    ...new Map(
      [...given, ...kinds]
        .filter(({ schema }) => schema !== undefined)
        .map((kind) => [`${kind.group}/${kind.kind}`, kind]),
    ).values(),
  ]
}

/** The kind with what its controller can be asked for. */
function withActions(kind: Kind, verbs: NonNullable<ControllerDeclaration['verbs']>): Kind {
  const sheets = verbs.flatMap(({ action: sheet }) => sheet ?? [])
  return sheets.length === 0 ? kind : { ...kind, actions: [...(kind.actions ?? []), ...sheets] }
}

function answerActions(controllers: readonly ControllerDeclaration<Kind, ManagedContext>[], plane: Plane): void {
  for (const { for: kind, verbs = [] } of controllers) {
    for (const verb of verbs)
      if (isCallAction(verb))
        plane.onAction(kind, verb.action.name, (requestInfo) => verb.answer(requestInfo as CallRequest))
  }
}

/*
 * A control plane as a fixture of a test runner: started when a test asks for it, stopped when the test is over.
 *
 * @example
 * const test = baseTest.extend({ plane: planeFixture({ controllers: [website], simulated: true }) })
 * test('a website gets its deployment', async ({ plane }) => { … })
 *
 * Nothing of a runner is imported: any whose fixtures are functions of a context and a `use` will do.
 */

/** @param options the same for every test, or made anew for each of them */
export function planeFixture(
  options: TestPlaneOptions | (() => TestPlaneOptions) = {},
): (context: object, use: (plane: TestPlane) => Promise<void>) => Promise<void> {
  // Runners read which other fixtures are wanted from the pattern of the first parameter.
  return async ({}, use) => {
    const plane = await startTestPlane(typeof options === 'function' ? options() : options)
    try {
      await use(plane)
    } finally {
      await plane.stop()
    }
  }
}
