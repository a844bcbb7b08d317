/**
 * The condition `Available` of APIServices with a service: whether their server answers.
 *
 * A server is checked when its APIService, a Service or an EndpointSlice changes, and again after an interval, sooner when
 * it did not answer. Each check resolves the service and reads the discovery document of the group version, as
 * `system:kube-aggregator`. The status is written only when it changes. Several servers on one store each check: they
 * mostly find the same, and the last one writes.
 */
import { deepEqual, formatTime, isConflict, isNotFound, type JsonObject } from '#api'
import { deadline, onAbort, type Cancel, type Clock, type Logger } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { UpdateHandler } from '../handlers/update.ts'
import { Warnings } from '../request-context.ts'
import { availableCondition, type AggregatedApi, type ApiServices } from './api-services.ts'
import type { BackendDocuments } from './backend-documents.ts'
import { aggregatorUser, UnresolvedServiceError, type Backends } from './backends.ts'
import type { ServiceAddresses } from './service-address.ts'
import type { StoredServices } from './stored-services.ts'

interface AvailabilityOptions {
  readonly apis: ApiServices
  readonly services: StoredServices
  readonly addresses: ServiceAddresses
  readonly backends: Backends
  readonly documents: BackendDocuments
  readonly updates: UpdateHandler
  /** The resource `apiservices`. */
  readonly resource: Resource
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

const passedMs = 10_000
const failedMs = 5000
/** A check takes no longer than this. */
const checkMs = 5000
/** One lost connection does not make a server unavailable. */
const attempts = 2

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface CheckedApi {
  /** The checked spec: a change of the status needs no check. */
  spec: unknown
  isRunning: boolean
  isDirty: boolean
  cancel: Cancel
}

export class AvailabilityController {
  readonly #options: AvailabilityOptions
  readonly #checked = new Map<string, CheckedApi>()

  constructor(options: AvailabilityOptions) {
    this.#options = options
  }

  /** Checks all APIServices, now and whenever something changes. */
  start(): void {
    const { apis, stopping, services } = this.#options
    apis.onChange(() => {
      // The listener runs before the index has the change.
      queueMicrotask(() => {
        this.#checkAll({ onlyChanged: true })
      })
    })
    onAbort(stopping, () => {
      services.unwatch()
      for (const { cancel } of this.#checked.values()) cancel()
    })
    this.#checkAll()
  }

  #checkAll({ onlyChanged = false }: { onlyChanged?: boolean } = {}): void {
    const { apis, backends, documents, services, addresses, stopping, log } = this.#options
    if (stopping.aborted) return
    const all = apis.all()
    addresses.forget()
    backends.retain(all)
    documents.retain(all)
    for (const [name, { cancel }] of this.#checked) {
      if (all.some((api) => api.name === name)) continue
      cancel()
      this.#checked.delete(name)
    }
    if (all.length === 0) services.unwatch()
    else
      services
        .watch(() => {
          this.#checkAll()
        })
        .catch((error: unknown) => {
          log.warn('watch of aggregated services failed: checking them at intervals only', { error })
        })
    for (const { name, object } of all) {
      const before = this.#checked.get(name)?.spec
      if (!onlyChanged || before === undefined || !deepEqual(before, object['spec'])) this.#check(name)
    }
  }

  /** Starts a check, or another one after the running one. */
  #check(name: string): void {
    const { stopping, log } = this.#options
    const state = this.#checked.get(name) ?? {
      spec: undefined,
      isRunning: false,
      isDirty: false,
      cancel: () => undefined,
    }
    this.#checked.set(name, state)
    state.isDirty = true
    if (state.isRunning || stopping.aborted) return
    state.isRunning = true
    state.cancel()
    this.#run(name, state)
      .catch((error: unknown) => {
        log.error('cannot check an APIService', { object: name, error })
      })
      .finally(() => {
        state.isRunning = false
        if (state.isDirty && this.#checked.get(name) === state) this.#check(name)
      })
  }

  async #run(name: string, state: CheckedApi): Promise<void> {
    const { apis, documents, clock } = this.#options
    let isAvailable = false
    while (state.isDirty && this.#checked.get(name) === state) {
      state.isDirty = false
      const api = apis.all().find((one) => one.name === name)
      if (!api) return
      state.spec = api.object['spec']
      const finding = await this.#find(api)
      isAvailable = finding.status === 'True'
      await documents.refresh(api, { isAvailable })
      await this.#write(api, finding)
    }
    if (this.#checked.get(name) === state && !this.#options.stopping.aborted)
      state.cancel = clock.after(isAvailable ? passedMs : failedMs, () => {
        this.#options.addresses.forget()
        this.#check(name)
      })
  }

  async #find(api: AggregatedApi): Promise<Finding> {
    let failure: Finding | undefined
    for (let attempt = 0; attempt < attempts; attempt++) {
      failure = await this.#failureOf(api)
      if (failure === undefined) return { status: 'True', reason: 'Passed', message: 'all checks passed' }
      if (failure.reason !== 'FailedDiscoveryCheck') break
    }
    return failure as Finding
  }

  async #failureOf(api: AggregatedApi): Promise<Finding | undefined> {
    const { backends, clock, stopping } = this.#options
    const path = `/apis/${api.group}/${api.version}`
    const { signal, done } = deadline(clock, checkMs, { signal: stopping })
    let url = ''
    try {
      url = await backends.urlOf(api, path)
      const request = { method: 'GET', target: path, headers: { accept: 'application/json' }, signal }
      const { status, body } = await backends.send(api, request, aggregatorUser)
      if (body && Symbol.asyncIterator in body) await body[Symbol.asyncIterator]().return?.()
      if (status >= 200 && status < 300) return undefined
      return failed(
        'FailedDiscoveryCheck',
        `failing or missing response from ${url}: bad status from ${url}: ${status}`,
      )
    } catch (error) {
      if (error instanceof UnresolvedServiceError) return failed(error.reason, error.message)
      const reason = signal.aborted ? 'context deadline exceeded' : (error as Error).message
      return failed('FailedDiscoveryCheck', `failing or missing response from ${url}: Get "${url}": ${reason}`)
    } finally {
      done()
    }
  }

  async #write({ name, object }: AggregatedApi, finding: Finding): Promise<void> {
    const { updates, resource, clock, log } = this.#options
    const known = availableCondition(object)
    const isSame = (['status', 'reason', 'message'] as const).every((field) => known?.[field] === finding[field])
    if (isSame) return
    const subresource = resource.subresources.find((one) => one.name === 'status')
    try {
      await updates.update((current) => withCondition(current, finding, formatTime(clock.now())), {
        context: { warnings: new Warnings() },
        target: { resource, namespace: '', name, ...(subresource && { subresource }) },
        dryRun: false,
        manager: 'kube-apiserver',
      })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error))
        log.error('cannot write the status of an APIService', { object: name, error })
    }
  }
}

function withCondition(current: JsonObject, finding: Finding, now: string): ObjectDraft {
  const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft
  const { conditions = [] } = (draft['status'] ?? {}) as { conditions?: JsonObject[] }
  const before = conditions.find(({ type }) => type === 'Available')
  const lastTransitionTime = before?.['status'] === finding.status ? (before['lastTransitionTime'] ?? now) : now
  const { status, reason, message } = finding
  const next = { type: 'Available', status, lastTransitionTime, reason, message }
  draft['status'] = { conditions: [...conditions.filter(({ type }) => type !== 'Available'), next] }
  return draft
}

function failed(reason: string, message: string): Finding {
  return { status: 'False', reason, message }
}
