/**
 * The preflight check: which permissions and kinds of a manager are missing on the server.
 *
 * A missing one does not prevent the start: it may be added later. If the check itself is not possible (an older server,
 * or no permission for access reviews), it is reported once and counts as passed.
 */
import { declareKind, isApiError, type Kind, type KubeObject } from '#api'
import type { AbortOptions } from '#base'
import { isUnknownKind, type Client, type DiscoveredResource } from '#client'
import type { PolicyRule } from '#controller'
import type { ScopedRules } from './rbac.ts'

/** A missing permission or kind. */
export interface MissingRequirement {
  readonly what: 'permission' | 'kind'
  readonly group: string
  /** The plural, with a subresource: `deployments/status`. */
  readonly resource: string
  /** The denied verbs. */
  readonly verbs?: readonly string[]
  /** Undefined for all namespaces. */
  readonly namespace?: string
  /** The denied user. */
  readonly identity?: string
  /** What is missing, and what to do. */
  readonly message: string
}

export interface Preflight {
  readonly missing: readonly MissingRequirement[]
  /** Why permissions could not be checked. */
  readonly unknown?: string
}

interface PreflightOptions {
  readonly client: Client
  readonly scopes: readonly ScopedRules[]
  /** Required kinds. */
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

/** @throws {ConnectionError} if the server cannot be reached. @throws {ApiError} `Unauthorized`. */
export async function preflight(
  { client, scopes, kinds }: PreflightOptions,
  { signal }: AbortOptions = {},
): Promise<Preflight> {
  const missingKinds = await missingKindsOf(kinds, client, { signal })
  try {
    const identity = await identityOf(client, { signal })
    const answers = await Promise.all(
      questionsOf(scopes).map(async (question) => ({
        question,
        isAllowed: await isAllowed(question, client, { signal }),
      })),
    )
    const refused = answers.filter(({ isAllowed: is }) => !is).map(({ question }) => question)
    return { missing: [...missingKinds, ...groupByVerb(refused).map((questions) => toMissing(questions, identity))] }
  } catch (error) {
    if (!isUnknownKind(error) && !(isApiError(error) && error.reason !== 'Unauthorized')) throw error
    return {
      missing: missingKinds,
      unknown: `cannot check permissions: ${(error as Error).message}`,
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

/** Our user name on the server; servers before 1.28 do not tell. */
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

/** Groups of questions that differ in the verb only. */
function groupByVerb(
  questions: readonly AccessQuestion[],
): readonly (readonly [AccessQuestion, ...AccessQuestion[]])[] {
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
    message: `permission missing: ${identity} cannot ${verbs.join(', ')} ${what} ${where}; apply the roles of manager.rbac()`,
  }
}

async function missingKindsOf(
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
      message: `kind missing: the server has no ${kind} (${group === '' ? version : `${group}/${version}`}); create the CustomResourceDefinition ${plural}.${group}: \`npx evenkeel generate MODULE --only crds\` prints it; its controller waits for it`,
    }))
}

function typeOf({ apiVersion, kind }: Kind): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion, kind }
}
