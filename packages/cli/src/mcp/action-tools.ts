/**
 * Tools for actions: list them, run any, and a tool for each action of the installed kinds while they are few.
 *
 * The server decides whether an action is enabled and whether its input is valid; the tools only pass on what it says.
 */
import { isJsonObject, type ActionDefinition, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import { actionsOf, requestAction, unknownAction } from '../action-request.ts'
import { Failure } from '../failure.ts'
import type { KindActions } from './action-catalog.ts'
import type { ObjectTarget } from './scope.ts'
import { argument, changes, field, reads, type Tool, type ToolArguments, type ToolCall } from './tool.ts'
import { visible } from './tool-result.ts'
import { targetOf } from './why-tools.ts'

/** With more actions than this only `act` is offered: clients show every tool to the model. */
const actionToolsMax = 40

const confirmArgument = {
  type: 'boolean',
  description: 'True when a person agreed to the question that the action asks',
  default: false,
} as const

export const actions: Tool = {
  name: 'actions',
  title: 'List actions',
  about: 'Lists the actions of a kind: what they do, when they are enabled, and the schema of their input.',
  input: { kind: argument.kind },
  required: ['kind'],
  output: { actions: field.objects },
  effect: reads,
  async run(given, { scope, signal }) {
    const resource = await scope.kind(given.text('kind'))
    const found = await actionsOf(await scope.client(), resource, signal)
    return { actions: found.map((each) => ({ ...each }) as unknown as JsonObject) }
  },
}

export const act: Tool = {
  name: 'act',
  title: 'Run an action',
  about: 'Runs an action of an object, such as restart or backup. The tool actions lists them.',
  input: {
    ...argument,
    action: { type: 'string', description: 'The name of the action' },
    input: { description: 'The input, as the schema of the action says' },
    confirm: confirmArgument,
  },
  required: ['kind', 'name', 'action'],
  output: { action: field.text, changed: field.flag },
  effect: changes({ isDestructive: true }),
  async run(given, call) {
    const target = await targetOf(given, call)
    const definition = await definitionOf(target, given.text('action'), call)
    return perform(target, { definition, given, call })
  },
}

/** @throws {Failure} `usage`, with the actions of the kind */
async function definitionOf(
  { resource }: ObjectTarget,
  name: string,
  { scope, signal }: ToolCall,
): Promise<ActionDefinition> {
  const all = await actionsOf(await scope.client(), resource, signal)
  const definition = all.find((each) => each.name === name)
  if (!definition) throw unknownAction(name, all, resource)
  return definition
}

/** The definition of an action if the kind has it. */
export async function findAction(
  { resource }: ObjectTarget,
  name: string,
  { scope, signal }: ToolCall,
): Promise<ActionDefinition | undefined> {
  return (await actionsOf(await scope.client(), resource, signal)).find((each) => each.name === name)
}

interface Performance {
  readonly definition: ActionDefinition
  readonly given: ToolArguments
  readonly call: ToolCall
}

/** Requests the action. @throws {Failure} `refused` when a person must agree first */
export async function perform(target: ObjectTarget, { definition, given, call }: Performance): Promise<JsonObject> {
  const { scope, signal } = call
  const { name, namespace } = target
  if (definition.confirm !== undefined && !given.flag('confirm'))
    throw new Failure('refused', `${definition.confirm} (nothing was changed)`, {
      hint: 'ask the person, then call again with confirm: true',
    })
  const resource = await withSubresource(target, definition, call)
  // The server answers a request for an object that does not exist without the names that do.
  await scope.read(target, signal)
  return requestAction(await scope.client(), {
    definition,
    resource,
    object: name,
    namespace,
    input: given.json('input'),
    signal,
  })
}

/** An action that was installed a moment ago has a path that the cached discovery does not know. */
async function withSubresource(
  { resource }: ObjectTarget,
  { name }: ActionDefinition,
  { scope, signal }: ToolCall,
): Promise<ObjectTarget['resource']> {
  if (resource.subresources.includes(name)) return resource
  const fresh = await (await scope.client()).resources({ reload: true, signal })
  return fresh.find(({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind) ?? resource
}

/** A tool for each action; none when there are too many. */
export function actionTools(kinds: readonly KindActions[]): readonly Tool[] {
  const count = kinds.reduce((sum, kind) => sum + kind.actions.length, 0)
  if (count > actionToolsMax) return []
  const singulars = kinds.map(({ singular }) => singular)
  return kinds.flatMap((kind) => {
    const isShared = singulars.filter((each) => each === kind.singular).length > 1
    const prefix = isShared ? `${kind.singular}_${kind.group.replaceAll('.', '-')}` : kind.singular
    return kind.actions.flatMap((definition) => {
      const name = `do_${prefix}_${definition.name}`
      // The longest name that all clients accept.
      return /^[\w-]{1,64}$/.test(name) ? [toolOf(kind, name, definition)] : []
    })
  })
}

function toolOf(kind: KindActions, name: string, definition: ActionDefinition): Tool {
  const { about = '', enabledWhen, confirm, form, input } = definition
  const isInputRequired = isJsonObject(input) && Array.isArray(input['required']) && input['required'].length > 0
  const sentences = [
    `Runs the action ${definition.name} of a ${kind.singular} (${kind.name}). The kind describes it as: ${about || 'nothing'}`,
    ...(enabledWhen === undefined ? [] : [`Enabled when ${enabledWhen}.`]),
    ...(confirm === undefined ? [] : [`A person must agree first: ${confirm}`]),
  ]
  return {
    name,
    title: `${definition.name} a ${kind.singular}`,
    // A description is what models trust most: this one comes from the server, so it has nothing hidden and no lines.
    about: String(visible(sentences.join(' ')))
      .replace(/\s+/g, ' ')
      .slice(0, 1000),
    input: {
      name: argument.name,
      ...(kind.namespaced && { namespace: argument.namespace }),
      ...(input !== undefined && { input: { type: 'object', ...(visible(plainSchema(input)) as object) } as const }),
      ...(confirm !== undefined && { confirm: confirmArgument }),
    },
    required: ['name', ...(isInputRequired ? ['input'] : [])],
    output: { action: field.text, changed: field.flag },
    effect:
      form === 'call'
        ? { ...reads, openWorldHint: false }
        : changes({ isDestructive: confirm !== undefined || form === 'operation', isIdempotent: form === 'state' }),
    async run(given, call) {
      const target = await call.scope.target(kind.name, given.text('name'), { namespace: given.optional('namespace') })
      return perform(target, { definition, given, call })
    },
  }
}

/** A schema of a kind as JSON Schema: without the words of Kubernetes. */
function plainSchema(schema: JsonValue | undefined): JsonValue {
  if (Array.isArray(schema)) return schema.map((each: JsonValue) => plainSchema(each))
  if (!isJsonObject(schema)) return schema ?? null
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => value !== undefined && !key.startsWith('x-kubernetes-') && key !== 'nullable')
      .map(([key, value]) => [
        key,
        key === 'properties' && isJsonObject(value) ? plainProperties(value) : plainSchema(value),
      ]),
  )
}

/** A property may have the name of a keyword. */
function plainProperties(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, plainSchema(value)]))
}
