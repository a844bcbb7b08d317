/**
 * Flow control: how many requests of a user run at once, how long they take, and how many watches are open.
 *
 * It runs before authorization, before anything expensive. Members of `system:masters` and requests for the health
 * paths never wait, so that an administrator can always help an overloaded server. The total of watches holds for
 * every user, because a watch uses memory as long as it lasts; the limit per user does not hold for administrators.
 */
import { parseDuration, timeout, tooManyRequests } from '#api'
import type { Clock } from '#base'
import type { WireResponse } from '#wire'
import { isLongRunning, type RequestContext, type RequestInfo } from '../request-context.ts'
import { onResponseEnd } from '../response.ts'
import { BodyBudget } from './body-budget.ts'
import { Deadlines, TimedRequest } from './deadlines.ts'
import { FairQueue, tooManyMessage, type Seat } from './fair-queue.ts'
import { defaultBodyBytes, withDefaultLimits, type LimitOptions, type Limits } from './limits.ts'
import { WorkScheduler, ListSlices } from './work-scheduler.ts'

/** The limit that a request counts against. */
type RequestClass = 'reads' | 'writes' | 'lists'

const requestClasses: readonly RequestClass[] = ['reads', 'writes', 'lists']
const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'post', 'put'])
const lists: ReadonlySet<string> = new Set(['list', 'deletecollection'])
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

export class FlowControl {
  readonly #limits: Limits
  readonly #gates: Readonly<Record<RequestClass, FairQueue>>
  readonly #watches: WatchLimiter
  #bodies: BodyBudget | undefined
  readonly #deadlines: Deadlines
  readonly #scheduler: WorkScheduler
  readonly #clock: Clock
  readonly #exempt: Record<RequestClass, number> = { reads: 0, writes: 0, lists: 0 }

  constructor(options: LimitOptions, { clock, stopping }: { clock: Clock; stopping: AbortSignal }) {
    const limits = (this.#limits = withDefaultLimits(options))
    const gate = (seatsMax: number): FairQueue =>
      new FairQueue({
        ...limits,
        clock,
        seatsMax,
        seatsPerUserMax: Math.max(1, Math.floor(seatsMax * limits.userShare)),
      })
    this.#gates = { reads: gate(limits.readsMax), writes: gate(limits.writesMax), lists: gate(limits.listsMax) }
    this.#watches = new WatchLimiter(limits)
    this.#clock = clock
    this.#scheduler = new WorkScheduler(clock)
    this.#deadlines = new Deadlines({ clock, usual: [limits.requestMs, limits.writeMs], stopping })
  }

  /**
   * Takes a seat for a request, or waits for one. Watches and streams are not counted here: {@link startWatch}.
   *
   * @throws {ApiError} `TooManyRequests`, also by rejecting.
   */
  enter(context: RequestContext): Seat | Promise<Seat> {
    const isLong = isLongRunning(context)
    const lane = requestClassOf(context.verb)
    if (!isLong && isExempt(context)) return this.#exemptSeat(lane)
    const seat = isLong ? noSeat : this.#gates[lane].enter(context.user.name, () => context.request.signal)
    return isLong || lane === 'lists' ? this.#paced(seat, context) : seat
  }

  /** The turn of a request that has more to do; undefined when it may continue at once. In process no request waits. */
  turn({ request, user }: Pick<RequestContext, 'request' | 'user'>): Promise<void> | undefined {
    return request.peer === undefined ? undefined : this.#scheduler.turn(user.name)
  }

  /**
   * Counts the body of a request that came from a socket; returns the function that ends it.
   *
   * @throws {ApiError} `TooManyRequests`
   */
  startBody({ request, user }: RequestContext): () => void {
    if (request.body === undefined || request.peer === undefined || !(request instanceof TimedRequest)) return noBody
    const account = (this.#bodies ??= this.#makeBodyBudget()).open(user.name)
    request.countBody(account, () => this.#scheduler.pause(user.name))
    return account.close
  }

  /**
   * Counts a watch or a stream; returns the function that ends it.
   *
   * @throws {ApiError} `TooManyRequests`
   */
  startWatch(context: RequestContext): () => void {
    const { user, isStream = false } = context
    return this.#watches.start(user.name, { isExempt: isExempt(context), isStream })
  }

  /**
   * Runs work within the deadline of a request.
   *
   * @throws {ApiError} `Timeout` after the deadline, and the errors of the work.
   */
  withDeadline(info: RequestInfo, work: () => Promise<WireResponse>): Promise<WireResponse> {
    const { request } = info
    if (isLongRunning(info) || !(request instanceof TimedRequest)) return work()
    const isWrite = info.resourcePath !== undefined && writes.has(info.verb)
    const refusal = (): Error =>
      timeout(
        isWrite
          ? 'request did not complete within requested timeout - context deadline exceeded'
          : 'request did not complete within the allotted timeout',
      )
    return this.#deadlines.within(this.#timeOf(info, isWrite), request, { work, refusal })
  }

  /** Slices for a long list: counts its work and yields to other requests. */
  sliceList({ request, user }: Pick<RequestContext, 'request' | 'user'>): ListSlices {
    return new ListSlices({ scheduler: this.#scheduler, clock: this.#clock, request, user: user.name })
  }

  /** The response; its seat is released when its last piece is sent. */
  holdSeat(response: WireResponse, seat: Seat, info: RequestInfo): WireResponse {
    const { request } = info
    if (isLongRunning(info)) return response
    if (response.upgrade) {
      seat.leave()
      return response
    }
    return onResponseEnd(response, request instanceof TimedRequest ? request.original : request, () => {
      seat.leave()
    })
  }

  /** Lines for `/metrics`. */
  metrics(): string[] {
    const { reads, writes: mutating, lists: listing } = this.#gates
    const each = (name: string, read: (gate: FairQueue) => number): string[] =>
      requestClasses.map((lane) => `${name}{lane="${lane}"} ${read(this.#gates[lane])}`)
    return [
      '# HELP apiserver_current_inflight_requests Requests that are being answered.',
      '# TYPE apiserver_current_inflight_requests gauge',
      `apiserver_current_inflight_requests{request_kind="mutating"} ${mutating.seatsInUse + this.#exempt.writes}`,
      `apiserver_current_inflight_requests{request_kind="readOnly"} ${reads.seatsInUse + listing.seatsInUse + this.#exempt.reads + this.#exempt.lists}`,
      '# HELP evenkeel_requests_waiting Requests that wait for their turn.',
      '# TYPE evenkeel_requests_waiting gauge',
      ...each('evenkeel_requests_waiting', (gate) => gate.waiting),
      '# HELP evenkeel_requests_refused_total Requests rejected with 429.',
      '# TYPE evenkeel_requests_refused_total counter',
      ...each('evenkeel_requests_refused_total', (gate) => gate.refused),
      `evenkeel_requests_refused_total{lane="watches"} ${this.#watches.refused}`,
      '# HELP evenkeel_request_body_bytes Bytes of request bodies that are being handled.',
      '# TYPE evenkeel_request_body_bytes gauge',
      `evenkeel_request_body_bytes ${this.#bodies?.bytes ?? 0}`,
      '# HELP apiserver_longrunning_requests Watches and streams that are open.',
      '# TYPE apiserver_longrunning_requests gauge',
      `apiserver_longrunning_requests{verb="WATCH"} ${this.#watches.total - this.#watches.streams}`,
      `apiserver_longrunning_requests{verb="CONNECT"} ${this.#watches.streams}`,
      '# HELP apiserver_request_terminations_total Requests that took too long.',
      '# TYPE apiserver_request_terminations_total counter',
      `apiserver_request_terminations_total{code="504"} ${this.#deadlines.expired}`,
    ]
  }

  #timeOf({ query }: RequestInfo, isWrite: boolean): number {
    const { requestMs, writeMs } = this.#limits
    const max = isWrite ? Math.min(writeMs, requestMs) : requestMs
    const asked = query.get('timeout')
    const askedMs = asked === null || asked === '' ? 0 : (parseDuration(asked) ?? 0)
    return askedMs > 0 && askedMs < max ? askedMs : max
  }

  /** A list or watch with a seat may still have to yield to other requests. */
  #paced(entering: Seat | Promise<Seat>, context: RequestContext): Seat | Promise<Seat> {
    if (entering instanceof Promise) return entering.then((seat) => this.#paced(seat, context))
    const turn = this.turn(context)
    return turn === undefined ? entering : turn.then(() => entering)
  }

  #makeBodyBudget(): BodyBudget {
    const { bodyBytesMax: bytesMax = defaultBodyBytes(), userShare } = this.#limits
    return new BodyBudget({ bytesMax, bytesPerUserMax: bytesMax * userShare })
  }

  #exemptSeat(lane: RequestClass): Seat {
    this.#exempt[lane]++
    let isTaken = true
    return {
      leave: () => {
        if (isTaken) this.#exempt[lane]--
        isTaken = false
      },
    }
  }
}

const noSeat: Seat = { leave: () => undefined }
const noBody = (): void => undefined

function requestClassOf(verb: string): RequestClass {
  if (lists.has(verb)) return 'lists'
  return writes.has(verb) ? 'writes' : 'reads'
}

function isExempt({ user, path, resourcePath: place }: RequestContext): boolean {
  return user.groups.includes('system:masters') || (place === undefined && openPaths.test(path))
}

interface WatchLimiterOptions {
  readonly watchesMax: number
  readonly watchesPerUserMax: number
}

class WatchLimiter {
  readonly #options: WatchLimiterOptions
  readonly #perUser = new Map<string, number>()
  #total = 0
  #streams = 0
  #refused = 0

  constructor(options: WatchLimiterOptions) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  /** Those that are streams and not watches. */
  get streams(): number {
    return this.#streams
  }

  get refused(): number {
    return this.#refused
  }

  /**
   * Counts one more; returns the function that ends it, which may be called twice.
   *
   * @throws {ApiError} `TooManyRequests`
   */
  start(user: string, { isExempt, isStream }: { isExempt: boolean; isStream: boolean }): () => void {
    const { watchesMax, watchesPerUserMax } = this.#options
    const own = this.#perUser.get(user) ?? 0
    if (this.#total >= watchesMax || (!isExempt && own >= watchesPerUserMax)) {
      this.#refused++
      throw tooManyRequests(tooManyMessage)
    }
    this.#total++
    if (isStream) this.#streams++
    this.#perUser.set(user, own + 1)
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      if (isStream) this.#streams--
      this.#end(user)
    }
  }

  #end(user: string): void {
    this.#total--
    const left = (this.#perUser.get(user) ?? 1) - 1
    if (left === 0) this.#perUser.delete(user)
    else this.#perUser.set(user, left)
  }
}
