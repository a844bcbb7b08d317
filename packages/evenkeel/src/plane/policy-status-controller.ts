/**
 * Type-checks the expressions of ValidatingAdmissionPolicies and writes warnings to their status, once per generation.
 *
 * The types of a policy may not exist when it is created, so the server does not refuse it. The warnings have no effect on
 * the evaluation of the policy.
 */
import {
  compareText,
  declareKind,
  formatApiVersion,
  isJsonObject,
  isNotFound,
  loadAdmissionEngine,
  parseApiVersion,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type PolicyTypes,
  type Schema,
  type SchemaNode,
  type TypeWarning,
} from '#api'
import type { AbortOptions } from '#base'
import type { Client, DiscoveredResource } from '#client'
import type { ControllerDeclaration } from '#controller'

interface PolicyObject extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: { readonly expressionWarnings?: readonly TypeWarning[] }
  }
}

const group = 'admissionregistration.k8s.io'
const policyKind = declareKind<PolicyObject>({
  group,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
})

export function policyStatusController(): ControllerDeclaration<typeof policyKind> {
  return {
    name: 'validatingadmissionpolicy-status',
    for: policyKind,
    rbac: [{ apiGroups: [group], resources: ['validatingadmissionpolicies/status'], verbs: ['patch'] }],
    async reconcile(policy, { client, signal }) {
      const {
        metadata: { generation = 1 },
        spec = {},
        status = {},
      } = policy
      if (generation <= (status.observedGeneration ?? 0)) return
      const [language, types] = await Promise.all([loadAdmissionEngine(), findTypes(spec, client, { signal })])
      const warnings = language.typeWarnings(spec, types)
      await client.patchStatus(
        policy,
        { observedGeneration: generation, typeChecking: { expressionWarnings: warnings.length > 0 ? warnings : null } },
        { signal },
      )
    },
  }
}

/** At most this many types are checked, as in kube-controller-manager. */
const typesMax = 10

/** The types in the rules of a policy. Rules with `*` name no types. */
export async function findTypes(spec: JsonObject, client: Client, options: AbortOptions): Promise<PolicyTypes> {
  const schemas = new PublishedSchemas(client)
  const objects: { name: string; schema: NonNullable<PolicyTypes['params']> }[] = []
  for (const { group, version, kind } of resourcesIn(spec, await client.resources({ ...options, reload: true }))) {
    const schema = await schemas.find({ group, version, kind }, options)
    if (schema) objects.push({ name: `${group}/${version}, Kind=${kind}`, schema })
  }
  const params = paramKindOf(spec)
  return { objects, ...(params && { params: await schemas.find(params, options) }) }
}

function paramKindOf({ paramKind }: JsonObject): { group: string; version: string; kind: string } | undefined {
  if (!isJsonObject(paramKind)) return undefined
  return { ...parseApiVersion(String(paramKind['apiVersion'])), kind: String(paramKind['kind']) }
}

/** Each kind once, sorted by group, version and kind. */
function resourcesIn(spec: JsonObject, served: readonly DiscoveredResource[]): readonly DiscoveredResource[] {
  const match = spec['matchConstraints']
  const rules =
    isJsonObject(match) && Array.isArray(match['resourceRules']) ? match['resourceRules'].filter(isJsonObject) : []
  const found = new Map<string, DiscoveredResource>()
  for (const rule of rules) {
    for (const resource of served)
      if (found.size < typesMax && names(rule, resource)) found.set(sortKey(resource), resource)
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, resource]) => resource)
}

function sortKey({ group, version, kind }: DiscoveredResource): string {
  return [group, version, kind].join('\0')
}

function names(
  { apiGroups, apiVersions, resources }: JsonObject,
  { group, version, plural }: DiscoveredResource,
): boolean {
  return (
    isNamed(apiGroups, group) && isNamed(apiVersions, version) && Array.isArray(resources) && resources.includes(plural)
  )
}

/** A list with `*` names nothing. */
function isNamed(list: JsonValue | undefined, name: string): boolean {
  return Array.isArray(list) && list.includes(name) && !list.some((one) => String(one).includes('*'))
}

/** The OpenAPI v3 schemas of a server. Each group version is fetched once per instance. */
export class PublishedSchemas {
  readonly #client: Client
  readonly #documents = new Map<string, Promise<JsonObject>>()

  constructor(client: Client) {
    this.#client = client
  }

  /** The schema of a kind; undefined if none is published. */
  async find(
    { group, version, kind }: { group: string; version: string; kind: string },
    options: AbortOptions,
  ): Promise<Schema | undefined> {
    const schemas = await this.#schemasOf(formatApiVersion({ group, version }), options)
    const [name] =
      Object.entries(schemas).find(
        ([, schema]) => isJsonObject(schema) && describes(schema, { group, version, kind }),
      ) ?? []
    if (name === undefined) return undefined
    const definitions = (ref: string): SchemaNode | undefined => nodeOf(schemas, ref)
    return { name, definitions, root: nodeOf(schemas, name) ?? {} }
  }

  #schemasOf(apiVersion: string, options: AbortOptions): Promise<JsonObject> {
    let document = this.#documents.get(apiVersion)
    if (document === undefined) this.#documents.set(apiVersion, (document = this.#fetch(apiVersion, options)))
    return document
  }

  async #fetch(apiVersion: string, options: AbortOptions): Promise<JsonObject> {
    const root = parseApiVersion(apiVersion).group === '' ? 'api' : 'apis'
    try {
      const document = (await this.#client.raw({ path: `/openapi/v3/${root}/${apiVersion}` }, options)).json()
      const components = document['components']
      const schemas = isJsonObject(components) ? components['schemas'] : undefined
      return isJsonObject(schemas) ? schemas : {}
    } catch (error) {
      if (isNotFound(error)) return {}
      throw error
    }
  }
}

function nodeOf(schemas: JsonObject, name: string): SchemaNode | undefined {
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  return isJsonObject(schema) ? (schema as object as SchemaNode) : undefined
}

function describes(
  schema: JsonObject,
  { group, version, kind }: { group: string; version: string; kind: string },
): boolean {
  const names = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(names) &&
    names.some(
      (name) => isJsonObject(name) && name['group'] === group && name['version'] === version && name['kind'] === kind,
    )
  )
}
