/**
 * Finds workloads by their names alone: `web`, or `process/web` where two kinds have one of that name.
 */
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import type { JsonObject } from 'evenkeel/unstable/api'
import { actionsOf, requestAction, unknownAction } from '../action-request.ts'
import type { Invocation, OptionSpecs } from '../command.ts'
import { Failure } from '../failure.ts'
import { isCalled } from '../lookup.ts'
import { nearestWords } from '../parse.ts'
import { copyNameOf, copyOption } from './run-record.ts'
import { rowOf, workloadResources, workloadsGroup, type WorkloadRow } from './workload-row.ts'

/** The options of commands for workloads of one application. */
export const workloadOptions: OptionSpecs = {
  namespace: { type: 'string', short: 'n', value: 'NAME', about: 'the namespace (default: that of the context)' },
  ...copyOption,
}

/** The namespace of an application: that of a copy has its name. */
export function workloadNamespace({ values }: Pick<Invocation, 'values'>, client: Pick<Client, 'namespace'>): string {
  return values.text('namespace') ?? copyNameOf(values) ?? client.namespace ?? 'default'
}

interface ReadOptions {
  /** Undefined: all. */
  readonly namespace: string | undefined
  readonly signal: AbortSignal
}

/** All workloads, the kinds in their order. @throws {Failure} `unknown-kind` when the server has none of the kinds */
export async function readWorkloads(
  client: Client,
  { namespace, signal }: ReadOptions,
): Promise<readonly WorkloadRow[]> {
  const resources = await workloadKindsOf(client, signal)
  const lists = await Promise.all(
    resources.map(async ({ apiVersion, kind }) => {
      const { items } = await client.list(
        { apiVersion, kind },
        { ...(namespace !== undefined && { namespace }), signal },
      )
      return items.map((item) => rowOf({ ...item, apiVersion, kind } as KubeObject))
    }),
  )
  return lists.flat()
}

/** @throws {Failure} `unknown-kind` */
export async function workloadKindsOf(client: Client, signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
  const resources = await workloadResources(client, signal)
  if (resources.length > 0) return resources
  throw new Failure('unknown-kind', `the server has no kinds of ${workloadsGroup}`, { hint: 'evenkeel run' })
}

/**
 * The workloads with these names, in their order.
 *
 * @throws {Failure} `not-found` that names every one that is missing, `usage` for a name of two kinds
 */
export async function findWorkloads(
  client: Client,
  words: readonly string[],
  { namespace, signal }: ReadOptions & { readonly namespace: string },
): Promise<readonly WorkloadRow[]> {
  const resources = await workloadKindsOf(client, signal)
  const rows = await readWorkloads(client, { namespace, signal })
  const missing: string[] = []
  const found = words.flatMap((word) => {
    const [kind, name = word] = word.includes('/') ? word.split('/') : [undefined, word]
    const called = rows.filter((row) => row.name === name && (kind === undefined || isOfKind(row, kind, resources)))
    if (called.length === 0) missing.push(word)
    const [first] = called
    if (called.length < 2 || !first) return called
    // What people start and stop comes before what belongs to it.
    const own = called.filter((row) => row.kind !== 'Service')
    if (own.length === 1) return own
    throw new Failure(
      'usage',
      `${called.map((row) => `${row.kind.toLowerCase()}/${name}`).join(' and ')} have the same name`,
      {
        hint: `${first.kind.toLowerCase()}/${name}`,
      },
    )
  })
  if (missing.length > 0) throw notThere(missing, rows, namespace)
  return found
}

function isOfKind(row: WorkloadRow, word: string, resources: readonly DiscoveredResource[]): boolean {
  return resources.some((resource) => resource.kind === row.kind && isCalled(resource, word.toLowerCase()))
}

function notThere(missing: readonly string[], rows: readonly WorkloadRow[], namespace: string): Failure {
  const names = [...new Set(rows.map(({ name }) => name))]
  const meant = [...new Set(missing.flatMap((word) => nearestWords(word.split('/').at(-1) ?? '', names)))]
  const what = missing.length === 1 ? 'no workload is called' : 'no workloads are called'
  return new Failure('not-found', `${what} ${missing.join(', ')} in namespace ${namespace}`, {
    hint: meant.length > 0 ? meant.join(', ') : 'evenkeel ps -A',
  })
}

interface WorkloadAction {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly action: string
  readonly signal: AbortSignal
}

/** Requests an action without input of a workload. @throws {Failure} `usage`, when its kind has none of this name */
export async function requestWorkloadAction(
  client: Client,
  { kind, name, namespace, action, signal }: WorkloadAction,
): Promise<JsonObject> {
  const resource = (await workloadKindsOf(client, signal)).find((each) => each.kind === kind)
  if (!resource) throw new Failure('unknown-kind', `the server has no kind ${kind} of ${workloadsGroup}`)
  const actions = await actionsOf(client, resource, signal)
  const definition = actions.find((each) => each.name === action)
  if (!definition) throw unknownAction(action, actions, resource)
  return requestAction(client, { definition, resource, object: name, namespace, input: undefined, signal })
}
