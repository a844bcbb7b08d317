/**
 * One request in the audit log, from its arrival to its end.
 *
 * The stages report what they know; this makes events of `audit.k8s.io/v1`, as many as the policy wants. It never
 * changes a response. Bodies are shown as JSON, whatever their format; one that is unreadable or too large is left
 * out. The content of Secrets and tokens is not written, nor are texts that may quote it, unless the owner of the
 * server wants that.
 */
import {
  formatMicroTime,
  isJsonObject,
  setOwn,
  toStatus,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type Status,
} from '#api'
import type { Clock } from '#base'
import {
  decodeProtobuf,
  formatOfBody,
  loadCbor,
  readJson,
  readYaml,
  type ResourcePath,
  type WireRequest,
  type WireResponse,
} from '#wire'
import { userInfo } from '../auth/user.ts'
import type { AuthorizationDecision, AuthorizerChain } from '../authz/authorizer.ts'
import { readBody } from '../handlers/request-body.ts'
import { ChangedRequest, isLongRunning, type RequestContext, type RequestInfo } from '../request-context.ts'
import { onResponseEnd } from '../response.ts'
import {
  decideAudit,
  reaches,
  type AuditDecision,
  type AuditLevel,
  type AuditStage,
  type AuditPolicy,
} from './audit-policy.ts'

/** The audit log as one request uses it. */
export interface AuditEvents {
  readonly clock: Clock
  readonly policy: AuditPolicy
  readonly showsSecrets: boolean
  write(event: JsonObject): void
}

const agentMax = 1024
const annotationsMax = 64

export class RequestAudit {
  readonly id: string
  readonly #log: AuditEvents
  readonly #request: WireRequest
  readonly #receivedMs: number
  readonly #annotations: JsonObjectDraft = {}
  #info: RequestInfo | undefined
  #context: RequestContext | undefined
  #decision: AuditDecision | undefined
  #isSensitive = false
  #requestObject: JsonObject | undefined
  #failure: { readonly status: Status; readonly isExpected: boolean } | undefined

  constructor(request: WireRequest, id: string, log: AuditEvents) {
    this.id = id
    this.#request = request
    this.#log = log
    this.#receivedMs = log.clock.now()
  }

  /** The path is parsed. */
  setRequestInfo(info: RequestInfo): void {
    this.#info = info
    this.#isSensitive = !this.#log.showsSecrets && isSensitive(info.resourcePath)
  }

  /** Authentication has succeeded. From here on the request collects audit annotations. */
  setUser(context: RequestContext): RequestContext {
    this.#context = context
    this.#decide()
    this.#write('RequestReceived')
    return this.#isLogged()
      ? {
          ...context,
          annotate: (key, value) => {
            this.#annotate(key, value)
          },
        }
      : context
  }

  /** Impersonation has succeeded. */
  setImpersonatedUser(context: RequestContext): void {
    this.#context = context
  }

  /** The same authorizer, with its decisions recorded. */
  watchAuthorizer(authorizer: AuthorizerChain): AuthorizerChain {
    if (!this.#isLogged()) return authorizer
    const note = (verdict: AuthorizationDecision): AuthorizationDecision => {
      this.#annotate('authorization.k8s.io/decision', verdict.allowed ? 'allow' : 'forbid')
      this.#annotate('authorization.k8s.io/reason', verdict.reason)
      return verdict
    }
    return {
      decide(question) {
        const asked = authorizer.decide(question)
        return asked instanceof Promise ? asked.then(note) : note(asked)
      },
      rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
    }
  }

  /**
   * The request with its body read, when the body is logged.
   *
   * @throws {ApiError} `RequestEntityTooLarge`
   */
  async captureBody(context: RequestContext): Promise<RequestContext> {
    if (context.resourcePath === undefined || context.request.body === undefined || !this.#shows('Request'))
      return context
    const { request } = context
    const body = await readBody(request)
    this.#requestObject = await documentOf(body, request.headers['content-type'])
    return { ...context, request: new ChangedRequest(request, { body }) }
  }

  /** The request failed with this error. */
  setFailure(error: unknown, { isExpected }: { isExpected: boolean }): void {
    this.#failure = { status: toStatus(error), isExpected }
  }

  /** Completes the event; returns the response to send. */
  async complete(response: WireResponse): Promise<WireResponse> {
    if (this.#decision === undefined) this.#decide()
    if (!this.#isLogged()) return response
    if (this.#context === undefined) this.#write('ResponseStarted', response)
    else if (this.#failure && !this.#failure.isExpected) this.#write('Panic', response)
    else if (this.#info && isLongRunning(this.#info) && response.status < 300) return this.#streams(response)
    else this.#write('ResponseComplete', response, await this.#shown(response))
    return response
  }

  #streams(response: WireResponse): WireResponse {
    this.#write('ResponseStarted', response)
    return onResponseEnd(response, this.#request, () => {
      this.#write('ResponseComplete', response)
    })
  }

  #decide(): void {
    const { verb = '', path = '', resourcePath: place } = this.#info ?? {}
    const user = this.#context?.impersonator ?? this.#context?.user
    this.#decision = decideAudit(this.#log.policy, { verb, path, resourcePath: place, ...(user && { user }) })
  }

  #isLogged(): boolean {
    return this.#decision !== undefined && this.#decision.level !== 'None'
  }

  #shows(level: AuditLevel): boolean {
    return this.#decision !== undefined && !this.#isSensitive && reaches(this.#decision.level, level)
  }

  #annotate(key: string, value: string): void {
    if (Object.keys(this.#annotations).length < annotationsMax) setOwn(this.#annotations, key, value)
  }

  /** The response as an object, if the level or a generated name requires it. */
  async #shown({ body, headers, status }: WireResponse): Promise<JsonObject | undefined> {
    const isNew = this.#info?.verb === 'create' && status < 300
    if (
      !(body instanceof Uint8Array) ||
      !(isNew || this.#shows('RequestResponse')) ||
      this.#info?.resourcePath === undefined
    )
      return undefined
    return documentOf(body, headers['content-type'])
  }

  #write(stage: AuditStage, response?: WireResponse, shown?: JsonObject): void {
    const decision = this.#decision
    if (decision === undefined || decision.level === 'None' || decision.omitStages.has(stage)) return
    this.#log.write({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.#isSensitive ? 'Metadata' : decision.level,
      auditID: this.id,
      stage,
      requestURI: this.#request.target,
      verb: this.#info?.verb ?? '',
      ...this.#who(),
      ...this.#where(shown),
      ...(response && { responseStatus: this.#status(response, stage) }),
      ...this.#bodies(stage, shown),
      requestReceivedTimestamp: formatMicroTime(this.#receivedMs),
      stageTimestamp: formatMicroTime(this.#log.clock.now()),
      ...(Object.keys(this.#annotations).length > 0 && { annotations: { ...this.#annotations } }),
    })
  }

  #who(): JsonObjectDraft {
    const { user, impersonator } = this.#context ?? {}
    const { peer, headers } = this.#request
    const agent = headers['user-agent']
    return {
      user: userInfo(impersonator ?? user ?? { name: '', groups: [] }),
      ...(impersonator && user && { impersonatedUser: userInfo(user) }),
      ...(peer && { sourceIPs: [peer.address] }),
      ...(agent !== undefined && {
        userAgent: agent.length > agentMax ? `${agent.slice(0, agentMax)}...TRUNCATED` : agent,
      }),
    }
  }

  #where(shown: JsonObject | undefined): JsonObjectDraft {
    const place = this.#info?.resourcePath
    if (place === undefined) return {}
    const parts = {
      resource: place.resource,
      namespace: place.namespace,
      name: place.name,
      apiGroup: place.group,
      apiVersion: place.version,
      subresource: place.subresource,
    }
    const known = shown ? nameIn(shown) : {}
    return { objectRef: { ...known, ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== '')) } }
  }

  #status({ status: code }: WireResponse, stage: AuditStage): JsonObjectDraft {
    if (!this.#failure) return { metadata: {}, code }
    const {
      status: { status = 'Failure', reason = '', message = '' },
    } = this.#failure
    const text = stage === 'Panic' ? `APIServer panic'd: ${message}` : message
    return { metadata: {}, status, ...(!this.#isSensitive && { message: text }), reason, code }
  }

  #bodies(stage: AuditStage, shown: JsonObject | undefined): JsonObjectDraft {
    const isTidied = this.#decision?.omitManagedFields === true
    const tidy = (object: JsonObject): JsonObject => (isTidied ? withoutManagers(object) : object)
    return {
      ...(stage !== 'RequestReceived' && this.#requestObject && { requestObject: tidy(this.#requestObject) }),
      ...(shown && this.#shows('RequestResponse') && { responseObject: tidy(shown) }),
    }
  }
}

/** Larger responses, such as full lists, are not logged. */
const shownBytesMax = 1024 * 1024
/** Nor are documents of many values: they are parsed once more to be logged. */
const shownValuesMax = 20_000

/** The object in a body, or the operations of a JSON patch; undefined when it cannot be shown. */
async function documentOf(bytes: Uint8Array, contentType: string | undefined): Promise<JsonObject | undefined> {
  if (bytes.byteLength === 0 || bytes.byteLength > shownBytesMax) return undefined
  try {
    const value = await parseDocument(bytes, contentType ?? '')
    return isJsonObject(value) || Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

async function parseDocument(bytes: Uint8Array, contentType: string): Promise<JsonValue> {
  const format = formatOfBody(contentType)
  if (format === 'protobuf') return decodeProtobuf(bytes)
  if (format === 'cbor' || /\+cbor\b/.test(contentType))
    return (await loadCbor()).readCbor(bytes, { valuesMax: shownValuesMax })
  if (format === 'yaml' || /\+yaml\b/.test(contentType))
    return (await readYaml(bytes, { valuesMax: shownValuesMax })).value
  return readJson(bytes, { valuesMax: shownValuesMax }).value
}

/** The name, namespace and uid in an object. */
function nameIn({ metadata }: JsonObject): Readonly<Record<string, string>> {
  if (!isJsonObject(metadata)) return {}
  const known: Record<string, string> = {}
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
    const value = metadata[field]
    if (typeof value === 'string' && value !== '') known[field] = value
  }
  return known
}

/** An object, or each of a list, without managed fields. */
function withoutManagers(object: JsonObject): JsonObject {
  if (Array.isArray(object)) return object
  const { metadata, items } = object
  return {
    ...object,
    ...(isJsonObject(metadata) && 'managedFields' in metadata && { metadata: withoutField(metadata, 'managedFields') }),
    ...(Array.isArray(items) && { items: items.map((item) => (isJsonObject(item) ? withoutManagers(item) : item)) }),
  }
}

function withoutField(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}

const sensitive: ReadonlySet<string> = new Set([
  '/secrets',
  '/serviceaccounts/token',
  'authentication.k8s.io/tokenreviews',
])

function isSensitive(place: ResourcePath | undefined): boolean {
  if (place === undefined) return false
  const { group, resource, subresource } = place
  return sensitive.has(`${group}/${resource}`) || sensitive.has(`${group}/${resource}/${subresource}`)
}
