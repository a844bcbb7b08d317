/**
 * `evenkeel do`: runs an action of an object, or lists its actions.
 *
 * An Evenkeel server has a path and a permission per action. On another server the command writes the same request as
 * any client could: a state into the spec, a token into the annotations, an Operation as an object.
 */
import {
  actionsAnnotation,
  formatActionRequest,
  formatTime,
  isJsonObject,
  isOperationOver,
  Operation,
  operationTargetLabel,
  readActionDefinitions,
  requestAnnotation,
  type ActionDefinition,
  type JsonObject,
  type JsonValue,
  type OperationObject,
  parseJson,
  stringifyJson,
} from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { CustomResourceDefinition } from 'evenkeel/kinds/apiextensions/v1'
import { randomUuid, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { oneNamespaceOption, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUpObject, namespaceOf } from '../lookup.ts'
import { orSuggest } from '../not-found.ts'
import { nearest } from '../parse.ts'
import { pathOf } from '../server-table.ts'
import { workloadsGroup } from '../run/workload-row.ts'
import { formatTable } from '../terminal.ts'

export const act: Command = {
  name: 'do',
  about: 'run an action of an object: restart, stop, backup',
  usage: 'KIND/NAME [ACTION]',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...oneNamespaceOption,
    input: { type: 'string', value: 'JSON', about: 'the input of the action' },
    yes: { type: 'boolean', about: 'confirm an action that asks for it' },
  },
  details: 'Without an action: lists the actions of the object.',
  examples: [
    'evenkeel do app/web',
    'evenkeel do app/web restart',
    'evenkeel do app/web backup --input \'{"to":"disk"}\'',
  ],
  async run(call) {
    const [pair = '', name] = call.words
    const input = inputOf(call.values.text('input'))
    const client = await call.connect()
    const { resource, name: object } = await lookUpObject(client, pair)
    const actions = await actionsOf(client, resource, call.io.signal)
    if (name === undefined) return list(actions, call)
    const definition = actions.find((each) => each.name === name)
    if (!definition) throw unknown(name, actions, resource)
    if (definition.confirm !== undefined && !call.values.flag('yes'))
      throw new Failure('usage', `${definition.confirm} (nothing was changed)`, {
        hint: `evenkeel do ${pair} ${name} --yes`,
      })
    const { apiVersion, kind } = resource
    const namespace = namespaceOf(call.values, resource, client)
    const result = await orSuggest(
      ask(client, { definition, resource, object, input, namespace, signal: call.io.signal }),
      client,
      {
        object: { apiVersion, kind, name: object, namespace },
        signal: call.io.signal,
      },
    )
    call.io.stdout.write(call.json ? `${stringifyJson(result)}\n` : `${describeResult(pair, definition, result)}\n`)
    return 0
  },
}

interface NamedAction {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly action: string
  readonly signal: AbortSignal
}

/** Requests an action without input of a workload. @throws {Failure} `usage`, when its kind has none of this name */
export async function requestAction(
  client: Client,
  { kind, name, namespace, action, signal }: NamedAction,
): Promise<JsonObject> {
  const resource = (await client.resources({ signal })).find(
    (each) => each.kind === kind && each.group === workloadsGroup,
  )
  if (!resource) throw new Failure('unknown-kind', `the server has no kind ${kind} of ${workloadsGroup}`)
  const actions = await actionsOf(client, resource, signal)
  const definition = actions.find((each) => each.name === action)
  if (!definition) throw unknown(action, actions, resource)
  return ask(client, { definition, resource, object: name, input: undefined, namespace, signal })
}

async function actionsOf(
  client: Client,
  { plural, group }: DiscoveredResource,
  signal: AbortSignal,
): Promise<readonly ActionDefinition[]> {
  const definition =
    group === '' ? undefined : await client.find(CustomResourceDefinition, { name: `${plural}.${group}` }, { signal })
  return readActionDefinitions(definition?.metadata.annotations?.[actionsAnnotation])
}

function list(actions: readonly ActionDefinition[], { io: { stdout }, json }: Invocation): number {
  if (json) stdout.write(`${stringifyJson(actions)}\n`)
  else
    stdout.write(
      actions.length === 0
        ? 'The kind has no actions.\n'
        : formatTable(
            ['Action', 'Form', 'About', 'When'],
            actions.map(({ name, form, about = '', enabledWhen = 'always' }) => [name, form, about, enabledWhen]),
          ),
    )
  return 0
}

interface ActionRequest {
  readonly definition: ActionDefinition
  readonly resource: DiscoveredResource
  readonly object: string
  readonly input: JsonValue | undefined
  readonly namespace: string | undefined
  readonly signal: AbortSignal
}

async function ask(
  client: Client,
  { definition, resource, object, input, namespace, signal }: ActionRequest,
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

function describeResult(pair: string, { name, form }: ActionDefinition, result: JsonObject): string {
  const { operation, changed, output } = result
  if (form === 'state') return changed === false ? `${pair}: no change` : `${pair}: ${name} requested (spec changed)`
  if (form === 'operation' && isJsonObject(operation))
    return `${pair}: ${name} requested as operation/${String(operation['name'])} (evenkeel get operation/${String(operation['name'])})`
  return form === 'token' ? `${pair}: ${name} requested` : stringifyJson(output)
}

function unknown(name: string, actions: readonly ActionDefinition[], { singular }: DiscoveredResource): Failure {
  const names = actions.map((definition) => definition.name)
  const meant = nearest(name, names)
  return new Failure(
    'usage',
    `${singular} has no action ${JSON.stringify(name)}: ${names.length === 0 ? 'the kind has none' : `its actions are ${names.join(', ')}`}`,
    { hint: meant },
  )
}

/** @throws {Failure} `usage` */
function inputOf(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined
  try {
    return parseJson(text) as JsonValue
  } catch (error) {
    throw new Failure('usage', `--input is not JSON: ${(error as Error).message}`, {
      cause: error,
      hint: '--input \'{"gently":true}\'',
    })
  }
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
