/**
 * `evenkeel do`: asks an object for one of its actions, or lists them.
 *
 * On a server of ours the action has a path and a right of its own. On another one the same intent is written as any
 * client could: a state into the spec, a stamp into the annotations, an Operation as an object.
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
} from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { CustomResourceDefinition } from 'evenkeel/kinds/apiextensions/v1'
import { randomUuid, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUpObject, namespaceOf } from '../lookup.ts'
import { nearest } from '../parse.ts'
import { pathOf } from '../server-table.ts'
import { formatTable } from '../terminal.ts'

export const act: Command = {
  name: 'do',
  about: 'ask an object for one of its actions: restart, stop, backup',
  usage: 'KIND/NAME [ACTION]',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    namespace: namespaceOptions['namespace'] ?? { type: 'string', about: 'the namespace' },
    input: { type: 'string', value: 'JSON', about: 'what is given along' },
    yes: { type: 'boolean', about: 'do it, also where the action asks to be confirmed' },
  },
  details: 'Without an action: what can be asked for.',
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
    const sheets = await sheetsOf(client, resource, call.io.signal)
    if (name === undefined) return list(sheets, call)
    const sheet = sheets.find((each) => each.name === name)
    if (!sheet) throw unknown(name, sheets, resource)
    if (sheet.confirm !== undefined && !call.values.flag('yes'))
      throw new Failure('usage', `${sheet.confirm} (nothing was done)`, { hint: `evenkeel do ${pair} ${name} --yes` })
    const result = await ask(client, { sheet, resource, object, input, call })
    call.io.stdout.write(call.json ? `${JSON.stringify(result)}\n` : `${sayDone(pair, sheet, result)}\n`)
    return 0
  },
}

async function sheetsOf(
  client: Client,
  { plural, group }: DiscoveredResource,
  signal: AbortSignal,
): Promise<readonly ActionDefinition[]> {
  const definition =
    group === '' ? undefined : await client.find(CustomResourceDefinition, { name: `${plural}.${group}` }, { signal })
  return readActionDefinitions(definition?.metadata.annotations?.[actionsAnnotation])
}

function list(sheets: readonly ActionDefinition[], { io: { stdout }, json }: Invocation): number {
  if (json) stdout.write(`${JSON.stringify(sheets)}\n`)
  else
    stdout.write(
      sheets.length === 0
        ? 'It has no actions.\n'
        : formatTable(
            ['Action', 'Form', 'About', 'When'],
            sheets.map(({ name, form, about = '', enabledWhen = 'always' }) => [name, form, about, enabledWhen]),
          ),
    )
  return 0
}

interface ActionRequest {
  readonly sheet: ActionDefinition
  readonly resource: DiscoveredResource
  readonly object: string
  readonly input: JsonValue | undefined
  readonly call: Invocation
}

async function ask(client: Client, { sheet, resource, object, input, call }: ActionRequest): Promise<JsonObject> {
  const namespace = namespaceOf(call.values, resource, client)
  const body = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ActionRequest', ...(input !== undefined && { input }) }
  if (resource.subresources.includes(sheet.name)) {
    const answer = await client.raw(
      {
        method: 'POST',
        path: `${pathOf(resource, { namespace, name: object })}/${sheet.name}`,
        body,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      },
      { signal: call.io.signal },
    )
    return awaited(client, JSON.parse(answer.text()) as JsonObject, { sheet, signal: call.io.signal })
  }
  const target = await client.get(
    { apiVersion: resource.apiVersion, kind: resource.kind },
    { name: object, ...(namespace !== undefined && { namespace }) },
    { signal: call.io.signal },
  )
  return awaited(client, await writeIntent(client, target, { sheet, input, signal: call.io.signal }), {
    sheet,
    signal: call.io.signal,
  })
}

/** A question that could not be answered at once is an operation: its result is the answer. */
async function awaited(
  client: Client,
  result: JsonObject,
  { sheet, signal }: { sheet: ActionDefinition; signal: AbortSignal },
): Promise<JsonObject> {
  const { operation } = result
  if (sheet.form !== 'call' || !isJsonObject(operation)) return result
  const { status } = await waitForOperation(client, operation as unknown as { name: string; namespace: string }, signal)
  if (status?.phase !== 'Succeeded')
    throw new Failure('refused', `${sheet.name} got no answer: ${status?.message ?? 'it was taken away'}`)
  return { ...result, output: status.result ?? null }
}

/** The same intent on a server that does not know actions. */
async function writeIntent(
  client: Client,
  target: KubeObject,
  { sheet, input, signal }: { sheet: ActionDefinition; input: JsonValue | undefined; signal: AbortSignal },
): Promise<JsonObject> {
  const { name = '', namespace = 'default', uid = '' } = target.metadata
  const told = { action: sheet.name, form: sheet.form }
  if (target.metadata.deletionTimestamp !== undefined)
    throw new Failure(
      'refused',
      `${target.kind.toLowerCase()}/${name} is being deleted: ${sheet.name} makes no sense any more`,
    )
  if (sheet.form === 'state') {
    await client.patch(target, sheet.patch ?? {}, { signal })
    return { ...told, changed: true }
  }
  if (sheet.form === 'token') {
    const token = randomUuid(new SystemRandom())
    const text = formatActionRequest({
      token,
      time: formatTime(new SystemClock().now()),
      ...(input !== undefined && { input }),
    })
    await client.patch(target, { metadata: { annotations: { [requestAnnotation(sheet.name)]: text } } }, { signal })
    return { ...told, token }
  }
  const made = await client.create(
    Operation,
    {
      apiVersion: Operation.apiVersion,
      kind: Operation.kind,
      metadata: {
        generateName: `${name}-${sheet.name}-`,
        namespace,
        labels: { [operationTargetLabel]: uid },
        ownerReferences: [{ apiVersion: target.apiVersion, kind: target.kind, name, uid }],
      },
      spec: {
        action: sheet.name,
        target: { apiVersion: target.apiVersion, kind: target.kind, name, uid },
        ...(input !== undefined && { input }),
      },
    },
    { signal },
  )
  return { ...told, operation: { name: made.metadata.name, namespace } }
}

function sayDone(pair: string, { name, form }: ActionDefinition, result: JsonObject): string {
  const { operation, changed, output } = result
  if (form === 'state')
    return changed === false ? `${pair} is so already` : `${pair}: ${name} is written; its controller does the rest`
  if (form === 'operation' && isJsonObject(operation))
    return `${pair}: ${name} begins as operation/${String(operation['name'])} (evenkeel get operation/${String(operation['name'])})`
  return form === 'token' ? `${pair}: ${name} is asked for; its controller does it once` : JSON.stringify(output)
}

function unknown(name: string, sheets: readonly ActionDefinition[], { singular }: DiscoveredResource): Failure {
  const names = sheets.map((sheet) => sheet.name)
  const meant = nearest(name, names)
  return new Failure(
    'usage',
    `${singular} has no action ${JSON.stringify(name)}: ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}`,
    { hint: meant },
  )
}

/** @throws {Failure} `usage` */
function inputOf(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw new Failure('usage', `--input is no JSON: ${(error as Error).message}`, {
      cause: error,
      hint: '--input \'{"gently":true}\'',
    })
  }
}

/*
 * Waits for the end of an operation.
 */

/** A controller that runs answers in a moment; one that does not run has not said anything after this. */
const waitMs = 30_000

/** @throws {Failure} `refused` when nobody does it for half a minute. */
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
    throw new Failure('refused', `nobody did operation/${name} for ${waitMs / 1000} seconds`, {
      hint: `is its controller running? It goes on when it is: evenkeel get operation/${name} -o yaml`,
    })
  } finally {
    cancel()
  }
}
