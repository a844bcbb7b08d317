/**
 * Requests an action of an object: for `evenkeel do` and `evenkeel mcp`.
 *
 * An Evenkeel server has a path and a permission per action. On another server the same request is written as any client
 * could: a state into the spec, a token into the annotations, an Operation as an object.
 */
import {
  actionsAnnotation,
  formatActionRequest,
  formatTime,
  isJsonObject,
  isOperationOver,
  Operation,
  operationTargetLabel,
  parseJson,
  readActionDefinitions,
  requestAnnotation,
  type ActionDefinition,
  type JsonObject,
  type JsonValue,
  type OperationObject,
} from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { CustomResourceDefinition } from 'evenkeel/kinds/apiextensions/v1'
import { randomUuid, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { Failure } from './failure.ts'
import { nearest } from './parse.ts'
import { pathOf } from './server-table.ts'

/** The actions of a kind, from the annotation of its CRD. */
export async function actionsOf(
  client: Client,
  { plural, group }: DiscoveredResource,
  signal: AbortSignal,
): Promise<readonly ActionDefinition[]> {
  const definition =
    group === '' ? undefined : await client.find(CustomResourceDefinition, { name: `${plural}.${group}` }, { signal })
  return readActionDefinitions(definition?.metadata.annotations?.[actionsAnnotation])
}

interface ActionRequest {
  readonly definition: ActionDefinition
  readonly resource: DiscoveredResource
  /** The name of the object. */
  readonly object: string
  /** Undefined: the object is cluster-scoped. */
  readonly namespace: string | undefined
  readonly input: JsonValue | undefined
  readonly signal: AbortSignal
}

/** Requests the action and returns its `ActionResult`. */
export async function requestAction(
  client: Client,
  { definition, resource, object, namespace, input, signal }: ActionRequest,
): Promise<JsonObject> {
  const body = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ActionRequest', ...(input !== undefined && { input }) }
  if (resource.subresources.includes(definition.name)) {
    const answer = await client.raw(
      {
        method: 'POST',
        path: `${pathOf(resource, { namespace, name: object })}/${definition.name}`,
        body,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      },
      { signal },
    )
    return awaitResult(client, parseJson(answer.text()) as JsonObject, { definition, signal })
  }
  const target = await client.get(
    { apiVersion: resource.apiVersion, kind: resource.kind },
    { name: object, ...(namespace !== undefined && { namespace }) },
    { signal },
  )
  return awaitResult(client, await writeIntent(client, target, { definition, input, signal }), {
    definition,
    signal,
  })
}

/** A call that takes longer is an Operation: waits for its result. */
async function awaitResult(
  client: Client,
  result: JsonObject,
  { definition, signal }: { definition: ActionDefinition; signal: AbortSignal },
): Promise<JsonObject> {
  const { operation } = result
  if (definition.form !== 'call' || !isJsonObject(operation)) return result
  const { status } = await waitForOperation(client, operation as unknown as { name: string; namespace: string }, signal)
  if (status?.phase !== 'Succeeded')
    throw new Failure('refused', `${definition.name} failed: ${status?.message ?? 'its Operation was deleted'}`)
  return { ...result, output: status.result ?? null }
}

/** Writes the request for a server without actions. */
async function writeIntent(
  client: Client,
  target: KubeObject,
  { definition, input, signal }: { definition: ActionDefinition; input: JsonValue | undefined; signal: AbortSignal },
): Promise<JsonObject> {
  const { name = '', namespace = 'default', uid = '' } = target.metadata
  const requested = { action: definition.name, form: definition.form }
  if (target.metadata.deletionTimestamp !== undefined)
    throw new Failure('refused', `${target.kind.toLowerCase()}/${name} is being deleted: cannot run ${definition.name}`)
  if (definition.form === 'state') {
    await client.patch(target, definition.patch ?? {}, { signal })
    return { ...requested, changed: true }
  }
  if (definition.form === 'token') {
    const token = randomUuid(new SystemRandom())
    const text = formatActionRequest({
      token,
      time: formatTime(new SystemClock().now()),
      ...(input !== undefined && { input }),
    })
    await client.patch(
      target,
      { metadata: { annotations: { [requestAnnotation(definition.name)]: text } } },
      { signal },
    )
    return { ...requested, token }
  }
  const made = await client.create(
    Operation,
    {
      apiVersion: Operation.apiVersion,
      kind: Operation.kind,
      metadata: {
        generateName: `${name}-${definition.name}-`,
        namespace,
        labels: { [operationTargetLabel]: uid },
        ownerReferences: [{ apiVersion: target.apiVersion, kind: target.kind, name, uid }],
      },
      spec: {
        action: definition.name,
        target: { apiVersion: target.apiVersion, kind: target.kind, name, uid },
        ...(input !== undefined && { input }),
      },
    },
    { signal },
  )
  return { ...requested, operation: { name: made.metadata.name, namespace } }
}

/** The failure for an action that the kind does not have. */
export function unknownAction(
  name: string,
  actions: readonly ActionDefinition[],
  { singular }: DiscoveredResource,
): Failure {
  const names = actions.map((definition) => definition.name)
  const meant = nearest(name, names)
  return new Failure(
    'usage',
    `${singular} has no action ${JSON.stringify(name)}: ${names.length === 0 ? 'the kind has none' : `its actions are ${names.join(', ')}`}`,
    { hint: meant },
  )
}

/** A running controller ends a short Operation well before this. */
const waitMs = 30_000

/** Waits for the end of an Operation. @throws {Failure} `refused` when it does not end within half a minute. */
async function waitForOperation(
  client: Client,
  { name, namespace }: { name: string; namespace: string },
  signal: AbortSignal,
): Promise<Pick<OperationObject, 'status'>> {
  const limit = new AbortController()
  const cancel = new SystemClock().after(waitMs, () => {
    limit.abort()
  })
  try {
    const both = AbortSignal.any([signal, limit.signal])
    const {
      items: [now],
      metadata: { resourceVersion = '' },
    } = await client.list(Operation, { namespace, fieldSelector: `metadata.name=${name}`, signal: both })
    if (!now || isOperationOver(now)) return now ?? {}
    for await (const event of client.watch(Operation, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      signal: both,
    })) {
      if (event.type === 'DELETED') return {}
      if (event.type === 'MODIFIED' && isOperationOver(event.object)) return event.object
    }
    return {}
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error
    throw new Failure('refused', `operation/${name} did not end within ${waitMs / 1000} s`, {
      hint: `check that its controller is running: evenkeel get operation/${name} -o yaml`,
    })
  } finally {
    cancel()
  }
}
