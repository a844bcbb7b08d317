/**
 * Asks the server, before anything runs, whether what a manager will do is allowed and the kinds it is about are there.
 *
 * Nothing is refused because of the answer: permissions may be given and kinds installed later. What cannot be asked
 * (an older server, no right to ask) is said once and counts as all right.
 */
import { declareKind, isApiError, type Kind, type KubeObject } from '#api'
import type { AbortOptions } from '#base'
import { isUnknownKind, type Client, type DiscoveredResource } from '#client'
import type { PolicyRule } from '#controller'
import type { ScopedRules } from './rbac.ts'

/** One thing that is missing. */
export interface MissingRequirement {
  readonly what: 'permission' | 'kind'
  readonly group: string
  /** The plural, with a subresource: `deployments/status`. */
  readonly resource: string
  /** What may not be done with it. */
  readonly verbs?: readonly string[]
  /** Undefined for everywhere. */
  readonly namespace?: string
  /** Who may not. */
  readonly identity?: string
  /** All of it in a sentence that says what to do. */
  readonly message: string
}

export interface Preflight {
  readonly missing: readonly MissingRequirement[]
  /** Why permissions could not be looked at. */
  readonly unknown?: string
}

interface PreflightParts {
  readonly client: Client
  readonly scopes: readonly ScopedRules[]
  /** Kinds that must be there. */
  readonly kinds: readonly Kind[]
}

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string }
}

interface SelfReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

const accessReview: Kind<AccessReview> = declareKind<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  scope: 'Cluster',
  statusSubresource: false,
})
const selfReview: Kind<SelfReview> = declareKind<SelfReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  scope: 'Cluster',
  statusSubresource: false,
})

/** @throws {ConnectionError} when the server cannot be reached, {ApiError} `Unauthorized` when it does not know us. */
export async function preflight(
  { client, scopes, kinds }: PreflightParts,
  { signal }: AbortOptions = {},
): Promise<Preflight> {
  const missingKinds = await missingOf(kinds, client, { signal })
  try {
    const identity = await identityOf(client, { signal })
    const asked = await Promise.all(
      questionsOf(scopes).map(async (question) => ({
        question,
        isAllowed: await isAllowed(question, client, { signal }),
      })),
    )
    const refused = asked.filter(({ isAllowed: is }) => !is).map(({ question }) => question)
    return { missing: [...missingKinds, ...grouped(refused).map((questions) => toMissing(questions, identity))] }
  } catch (error) {
    if (!isUnknownKind(error) && !(isApiError(error) && error.reason !== 'Unauthorized')) throw error
    return {
      missing: missingKinds,
      unknown: `whether permissions are missing could not be asked: ${(error as Error).message}`,
    }
  }
}

interface AccessQuestion {
  readonly group: string
  readonly resource: string
  readonly verb: string
  readonly name: string | undefined
  readonly namespace: string | undefined
}

function questionsOf(scopes: readonly ScopedRules[]): AccessQuestion[] {
  const all = scopes.flatMap(({ namespace, rules }) => rules.flatMap((rule) => questionsOfRule(rule, namespace)))
  return [...new Map(all.map((question) => [JSON.stringify(Object.values(question)), question])).values()]
}

function questionsOfRule(
  { apiGroups, resources, verbs, resourceNames = [] }: PolicyRule,
  namespace: string | undefined,
): AccessQuestion[] {
  const names = resourceNames.length > 0 ? resourceNames : [undefined]
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((name) => ({ group, resource, verb, name, namespace }))),
    ),
  )
}

async function isAllowed(
  { group, resource, verb, name, namespace }: AccessQuestion,
  client: Client,
  { signal }: AbortOptions,
): Promise<boolean> {
  const [plural = '', subresource] = resource.split('/')
  const resourceAttributes = {
    group,
    resource: plural,
    verb,
    ...(subresource !== undefined && { subresource }),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  }
  const review = { ...typeOf(accessReview), metadata: {}, spec: { resourceAttributes } } as AccessReview
  const { status } = await client.create(review, { ...(signal && { signal }) })
  return status?.allowed === true
}

/** Who the server takes us for; servers before 1.28 do not say. */
async function identityOf(client: Client, { signal }: AbortOptions): Promise<string> {
  try {
    const { status } = await client.create({ ...typeOf(selfReview), metadata: {} } as SelfReview, {
      ...(signal && { signal }),
    })
    return status?.userInfo?.username ?? 'this user'
  } catch (error) {
    if (isApiError(error) && error.reason === 'Unauthorized') throw error
    if (isApiError(error) || isUnknownKind(error)) return 'this user'
    throw error
  }
}

/** Those that differ in their verb only. */
function grouped(questions: readonly AccessQuestion[]): readonly (readonly [AccessQuestion, ...AccessQuestion[]])[] {
  const groups = new Map<string, [AccessQuestion, ...AccessQuestion[]]>()
  for (const question of questions) {
    const { group, resource, name, namespace } = question
    const key = JSON.stringify([group, resource, name, namespace])
    const known = groups.get(key)
    if (known) known.push(question)
    else groups.set(key, [question])
  }
  return [...groups.values()]
}

function toMissing(questions: readonly [AccessQuestion, ...AccessQuestion[]], identity: string): MissingRequirement {
  const [{ group, resource, name, namespace }] = questions
  const verbs = questions.map(({ verb }) => verb)
  const what = `${resource}${group === '' ? '' : ` (${group})`}${name === undefined ? '' : ` ${JSON.stringify(name)}`}`
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${JSON.stringify(namespace)}`
  return {
    what: 'permission',
    group,
    resource,
    verbs,
    identity,
    ...(namespace !== undefined && { namespace }),
    message: `permission missing: ${identity} may not ${verbs.join(', ')} ${what} ${where}; apply the roles of manager.rbac()`,
  }
}

async function missingOf(
  kinds: readonly Kind[],
  client: Client,
  { signal }: AbortOptions,
): Promise<MissingRequirement[]> {
  const served = await client.resources({ reload: true, signal })
  const has = ({ group, version, kind }: Kind): boolean =>
    served.some(
      (resource: DiscoveredResource) =>
        resource.group === group && resource.version === version && resource.kind === kind,
    )
  return kinds
    .filter((kind) => !has(kind))
    .map(({ group, version, kind, plural }) => ({
      what: 'kind',
      group,
      resource: plural,
      message: `kind missing: the server has no ${kind} (${group === '' ? version : `${group}/${version}`}); install its definition ${plural}.${group}, its controller waits for it`,
    }))
}

function typeOf({ apiVersion, kind }: Kind): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion, kind }
}
