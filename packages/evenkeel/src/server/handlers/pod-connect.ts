/**
 * Connections to Pods (exec, attach, portforward, proxy and log), Nodes and Services (proxy). A node serves them, and there
 * is none here.
 *
 * Everything before the node is as on a cluster: rights, admission of the options, the Pod, its container and its node.
 * So policies that forbid exec can be tested, and clients get the errors that they know. Only then the connection is
 * refused with the reason. An embedding program that runs Pods itself answers for their log: `customResources` with the kind Pod.
 */
import {
  ApiError,
  badRequest,
  notFound,
  objectIn,
  objectsIn,
  textIn,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from '#api'
import type { Query, WireResponse } from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import { requireAllowed } from '../authz/authorize.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { CustomResources } from '../extensions/custom-resources.ts'
import type { StreamSubresources } from '../extensions/streams.ts'
import type { CoreObjects } from '../registry/core-objects.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'

interface ConnectServices {
  readonly admission: Admission
  readonly authorizer: AuthorizerChain
  readonly objects: CoreObjects
  readonly customResources: CustomResources
  readonly streams: Pick<StreamSubresources, 'handle'>
}

/** The fields of the options by their types: `PodExecOptions`, `PodAttachOptions`, `PodPortForwardOptions`. */
const flags = ['stdin', 'stdout', 'stderr', 'tty'] as const
/** Subresources with streams, which a client may ask for by a GET that is upgraded: it needs the right to create. */
const streams: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward'])

export class PodConnections {
  readonly #services: ConnectServices

  constructor(services: ConnectServices) {
    this.#services = services
  }

  /** @throws {ApiError} always, but for a log that the program answers, and that of a Pod that has no node yet: that is empty. */
  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource, subresource, namespace, name } = target
    const part = subresource?.name ?? ''
    if (part !== 'log') await this.#admit(context, target)
    if (resource.kind !== 'Pod') throw unavailable(target)
    const pod = await this.#services.objects.find('pods', namespace, name)
    if (!pod) throw notFound({ kind: 'pods', name })
    if (part === 'proxy') throw unavailable(target)
    if (part !== 'portforward') checkContainer(pod, context.query.get('container') ?? '')
    if (part === 'log' && this.#services.customResources.find(resource)?.streams?.['log'])
      return this.#services.streams.handle(context, target)
    if (textIn(objectIn(pod, 'spec'), 'nodeName') !== '') throw unavailable(target)
    if (part === 'log') return { status: 204, headers: {} }
    throw badRequest(`pod ${name} does not have a host assigned`)
  }

  async #admit(context: RequestContext, target: ResourceRef): Promise<void> {
    const { query } = context
    if (query.getAll('dryRun').some((value) => value !== '')) throw badRequest('dryRun is not supported')
    const { apiVersion, kind } = {
      apiVersion: target.subresource?.version ?? 'v1',
      kind: target.subresource?.kind ?? '',
    }
    const options = { apiVersion, kind, ...optionsOf(query) }
    await this.#services.admission.admitDocument(
      options,
      { context, target, dryRun: false, options: null },
      { operation: 'CONNECT' },
    )
    if (context.verb === 'get' && streams.has(target.subresource?.name ?? ''))
      await requireAllowed({ ...context, verb: 'create' }, this.#services.authorizer)
  }
}

function optionsOf(query: Query): JsonObject {
  const options: JsonObjectDraft = {}
  for (const flag of flags) if (['true', '1'].includes(query.get(flag) ?? '')) options[flag] = true
  for (const field of ['container', 'path']) {
    const text = query.get(field)
    if (text !== null && text !== '') options[field] = text
  }
  const [command, ports] = [query.getAll('command'), query.getAll('ports').map(Number)]
  return { ...options, ...(command.length > 0 && { command }), ...(ports.length > 0 && { ports }) }
}

/** @throws {ApiError} `BadRequest`, when no container is chosen, or one that the Pod does not have. */
function checkContainer(pod: UnstructuredObject, wanted: string): void {
  const { name = '' } = pod.metadata
  const spec = objectIn(pod, 'spec')
  const namesOf = (key: string): string[] => objectsIn(spec, key).map((container) => textIn(container, 'name'))
  const own = namesOf('containers')
  // In the order in which upstream visits them.
  const all = [...namesOf('initContainers'), ...own, ...namesOf('ephemeralContainers')]
  if (wanted !== '' && !all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  if (wanted === '' && own.length > 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`)
}

function unavailable({ resource: { group, plural }, subresource, name }: ResourceRef): ApiError {
  const what = `${plural}/${subresource?.name ?? ''}`
  return new ApiError(
    'MethodNotAllowed',
    `${what} of ${JSON.stringify(name)} is not available: it needs a node, and this server runs no containers`,
    { subject: { group, kind: plural, name } },
  )
}
