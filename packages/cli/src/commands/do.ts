/**
 * `evenkeel do`: runs an action of an object, or lists its actions.
 */
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  type ActionDefinition,
  type JsonObject,
  type JsonValue,
} from 'evenkeel/unstable/api'
import { actionsOf, requestAction, unknownAction } from '../action-request.ts'
import { oneNamespaceOption, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUpObject, namespaceOf } from '../lookup.ts'
import { orSuggest } from '../not-found.ts'
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
    if (!definition) throw unknownAction(name, actions, resource)
    if (definition.confirm !== undefined && !call.values.flag('yes'))
      throw new Failure('usage', `${definition.confirm} (nothing was changed)`, {
        hint: `evenkeel do ${pair} ${name} --yes`,
      })
    const { apiVersion, kind } = resource
    const namespace = namespaceOf(call.values, resource, client)
    const { signal } = call.io
    const requested = requestAction(client, { definition, resource, object, namespace, input, signal })
    const result = await orSuggest(requested, client, {
      object: { apiVersion, kind, name: object, namespace },
      signal,
    })
    call.io.stdout.write(call.json ? `${stringifyJson(result)}\n` : `${describeResult(pair, definition, result)}\n`)
    return 0
  },
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

function describeResult(pair: string, { name, form }: ActionDefinition, result: JsonObject): string {
  const { operation, changed, output } = result
  if (form === 'state') return changed === false ? `${pair}: no change` : `${pair}: ${name} requested (spec changed)`
  if (form === 'operation' && isJsonObject(operation))
    return `${pair}: ${name} requested as operation/${String(operation['name'])} (evenkeel get operation/${String(operation['name'])})`
  return form === 'token' ? `${pair}: ${name} requested` : stringifyJson(output)
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
