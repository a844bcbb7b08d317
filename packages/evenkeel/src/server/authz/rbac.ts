/**
 * RBAC: authorization by Roles, ClusterRoles and their bindings.
 *
 * It follows the informers of the four kinds. Permissions only add up: a request is allowed when any rule of any
 * binding of the user allows it; otherwise there is no opinion. A ClusterRoleBinding applies everywhere, a RoleBinding
 * in its namespace only.
 *
 * Bindings are indexed by subject, so the cost of a decision does not depend on the bindings of other users, and a
 * changed binding touches only its own subjects. A ServiceAccount is indexed under its user name. Decisions are cached
 * per user and scope, by the attributes without the object name. Any change of a role or binding drops the cached
 * scopes, so a cached decision is never stale.
 *
 * Invariants: the index equals the state of the informers. A cache key identifies its attributes exactly; it includes
 * the lengths of texts, because clients choose the texts.
 */
import { compareText, getOwn, isJsonObject, quote, type JsonObject, type UnstructuredObject } from '#api'
import { cachedRulesOf, type PolicyRule } from '@evenkeel/builtins'
import type { Informer, Informers } from '../informers.ts'
import type { User } from '../request-context.ts'
import {
  formatErrors,
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type Authorizer,
  type SubjectRules,
} from './authorizer.ts'
import { matchesRule } from './policy-rules.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

/** The grants of one user, until any role or binding changes. */
interface UserGrants {
  readonly version: number
  readonly everywhere: GrantedScope
  /** By namespace; only namespaces with bindings of the user. */
  readonly inside: Map<string, GrantedScope>
}

const scopesMax = 1000

export class RbacAuthorizer {
  readonly #roles: Informer
  readonly #clusterRoles: Informer
  readonly #bindings = new RoleBindingIndex()
  // Authenticators return the same value for the same credentials, so most users are found by identity.
  readonly #rights = new WeakMap<User, UserGrants>()
  #version = 0

  /** @param informers must not have started yet */
  constructor(informers: Informers) {
    this.#roles = informers.forResource(rbacGroup, 'roles')
    this.#clusterRoles = informers.forResource(rbacGroup, 'clusterroles')
    for (const view of [this.#roles, this.#clusterRoles])
      view.addEventHandler(() => {
        this.#version++
      })
    for (const plural of ['rolebindings', 'clusterrolebindings']) {
      informers.forResource(rbacGroup, plural).addEventHandler((old, next) => {
        this.#version++
        this.#bindings.change(old, next)
      })
    }
  }

  /** For a chain of authorizers. */
  get authorizer(): Authorizer {
    return Object.assign((question: AuthorizationAttributes) => this.decide(question), {
      rulesFor: (user: User, namespace: string) => this.rulesFor(user, namespace),
    })
  }

  /** Allows, or has no opinion. */
  decide(question: AuthorizationAttributes): AuthorizationDecision | undefined {
    const rights = this.#rightsOf(question.user)
    const key = decisionKey(question)
    const everywhere = rights.everywhere.decide(question, key)
    if (everywhere) return everywhere
    const inside = this.#inside(question, rights)
    const verdict = inside?.decide(question, key)
    if (verdict) return verdict
    const missing = inside ? [...rights.everywhere.missing, ...inside.missing] : rights.everywhere.missing
    return missing.length === 0
      ? undefined
      : { allowed: false, noOpinion: true, reason: `RBAC: ${formatErrors(missing)}` }
  }

  /** All rules of a user in a namespace, or (empty) everywhere. */
  rulesFor(user: User, namespace: string): SubjectRules {
    const rights = this.#rightsOf(user)
    const scopes = [rights.everywhere, ...(namespace === '' ? [] : [this.#scope(this.#bindings.of(user, namespace))])]
    const errors = scopes.flatMap(({ missing }) => missing)
    return {
      rules: scopes.flatMap(({ granted }) => granted.flatMap(({ rules }) => rules)),
      incomplete: false,
      errors: errors.length === 0 ? [] : [formatErrors(errors)],
    }
  }

  /** The rules of the role that a binding names; undefined when there is no such role. */
  rulesOf(reference: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = this.#role(reference, namespace)
    return role && cachedRulesOf(role)
  }

  #role({ kind, name }: RoleRef, namespace: string): UnstructuredObject | undefined {
    return kind === 'Role' ? this.#roles.get(name, { namespace }) : this.#clusterRoles.get(name)
  }

  #rightsOf(user: User): UserGrants {
    const known = this.#rights.get(user)
    if (known?.version === this.#version) return known
    const rights: UserGrants = {
      version: this.#version,
      everywhere: this.#scope(this.#bindings.of(user, '')),
      inside: new Map(),
    }
    this.#rights.set(user, rights)
    return rights
  }

  #inside({ user, resourcePath: place }: AuthorizationAttributes, { inside }: UserGrants): GrantedScope | undefined {
    const namespace = place?.namespace ?? ''
    if (namespace === '' || !this.#bindings.has(namespace)) return undefined
    const known = inside.get(namespace)
    if (known) return known
    if (inside.size >= scopesMax) inside.clear()
    const scope = this.#scope(this.#bindings.of(user, namespace))
    inside.set(namespace, scope)
    return scope
  }

  #scope(grants: readonly RoleGrant[]): GrantedScope {
    const granted: GrantedRules[] = []
    const missing: string[] = []
    for (const grant of grants) {
      const role = this.#role(grant.role, grant.namespace)
      if (role) granted.push({ grant, rules: cachedRulesOf(role) })
      else missing.push(`${grant.role.kind.toLowerCase()}.${rbacGroup} "${grant.role.name}" not found`)
    }
    return new GrantedScope(granted, missing)
  }
}

// The index of bindings by subject.

/** One binding, as it applies to a subject. */
interface RoleGrant {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly role: RoleRef
  /** `RoleBinding "name/namespace" of Role "x" to User "y"` */
  describe(): string
}

interface RoleRef {
  readonly kind: string
  readonly name: string
}

interface IndexedSubject extends RoleGrant {
  readonly binding: UnstructuredObject
  /** Which of its subjects. */
  readonly index: number
}

class RoleBindingIndex {
  /** By namespace, then by subject. */
  readonly #filed = new Map<string, Map<string, Set<IndexedSubject>>>()
  /** The index entries of a binding, for its removal. */
  readonly #byBinding = new Map<
    UnstructuredObject,
    readonly { readonly subject: string; readonly filed: IndexedSubject }[]
  >()

  /** Applies the change of one binding: `next` replaces `old`. */
  change(old: UnstructuredObject | undefined, next: UnstructuredObject | undefined): void {
    if (old) this.#remove(old)
    if (next) this.#add(next)
  }

  /** The grants of a user in a namespace, or (empty) everywhere; sorted by the names of the bindings. */
  of({ name, groups }: User, namespace: string): readonly RoleGrant[] {
    const scope = this.#filed.get(namespace)
    if (scope === undefined) return []
    // A binding with several matching subjects counts once, for the first of them.
    const found = new Map<UnstructuredObject, IndexedSubject>()
    for (const subject of [userKey(name), ...groups.map(groupKey)]) {
      for (const filed of scope.get(subject) ?? []) {
        const known = found.get(filed.binding)
        if (known === undefined || known.index > filed.index) found.set(filed.binding, filed)
      }
    }
    return [...found.values()].sort((a, b) => compareText(a.binding.metadata.name ?? '', b.binding.metadata.name ?? ''))
  }

  /** Whether a namespace has any binding. */
  has(namespace: string): boolean {
    return this.#filed.has(namespace)
  }

  #add(binding: UnstructuredObject): void {
    const namespace = binding.metadata.namespace ?? ''
    const role = roleRefOf(binding)
    const subjects = getOwn(binding, 'subjects')
    const all = (Array.isArray(subjects) ? subjects : []).flatMap((subject, index) => {
      const key = isJsonObject(subject) ? subjectKey(subject, namespace) : undefined
      if (key === undefined || !isJsonObject(subject)) return []
      return [
        {
          subject: key,
          filed: { binding, namespace, role, index, describe: () => describeGrant(binding, role, subject) },
        },
      ]
    })
    this.#byBinding.set(binding, all)
    const scope = this.#filed.get(namespace) ?? new Map<string, Set<IndexedSubject>>()
    for (const { subject, filed } of all) scope.set(subject, (scope.get(subject) ?? new Set()).add(filed))
    if (scope.size > 0) this.#filed.set(namespace, scope)
  }

  #remove(binding: UnstructuredObject): void {
    const namespace = binding.metadata.namespace ?? ''
    const scope = this.#filed.get(namespace)
    for (const { subject, filed } of this.#byBinding.get(binding) ?? []) {
      const filedThere = scope?.get(subject)
      filedThere?.delete(filed)
      if (filedThere?.size === 0) scope?.delete(subject)
    }
    if (scope?.size === 0) this.#filed.delete(namespace)
    this.#byBinding.delete(binding)
  }
}

/** The role of a binding. */
export function roleRefOf(binding: UnstructuredObject | JsonObject): RoleRef {
  const reference = getOwn(binding as JsonObject, 'roleRef')
  return isJsonObject(reference)
    ? { kind: textOf(reference, 'kind'), name: textOf(reference, 'name') }
    : { kind: '', name: '' }
}

const userKey = (name: string): string => `user ${name}`
const groupKey = (name: string): string => `group ${name}`

function subjectKey(subject: JsonObject, namespace: string): string | undefined {
  const name = textOf(subject, 'name')
  switch (textOf(subject, 'kind')) {
    case 'User':
      return userKey(name)
    case 'Group':
      return groupKey(name)
    case 'ServiceAccount': {
      const inside = textOf(subject, 'namespace') || namespace
      return inside === '' ? undefined : userKey(`system:serviceaccount:${inside}:${name}`)
    }
    default:
      return undefined
  }
}

function describeGrant(
  { metadata: { name = '', namespace = '' } }: UnstructuredObject,
  role: RoleRef,
  subject: JsonObject,
): string {
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`
  const kind = textOf(subject, 'kind')
  const who =
    kind === 'ServiceAccount'
      ? `${textOf(subject, 'name')}/${textOf(subject, 'namespace') || namespace}`
      : textOf(subject, 'name')
  return `${binding} of ${role.kind} ${quote(role.name)} to ${kind} ${quote(who)}`
}

function textOf(object: JsonObject, key: string): string {
  const value = getOwn(object, key)
  return typeof value === 'string' ? value : ''
}

// The grants of one user in one scope: in a namespace, or everywhere.

/** A grant whose role exists. */
interface GrantedRules {
  readonly grant: RoleGrant
  readonly rules: readonly PolicyRule[]
}

interface CachedDecision {
  /** For every name. */
  readonly always: AuthorizationDecision | undefined
  /** For some names only. */
  readonly named: ReadonlyMap<string, AuthorizationDecision> | undefined
}

const cachedDecisionsMax = 2048
const keyLengthMax = 512

export class GrantedScope {
  readonly granted: readonly GrantedRules[]
  /** Missing roles of bindings, as text. */
  readonly missing: readonly string[]
  readonly #remembered = new Map<string, CachedDecision>()

  constructor(granted: readonly GrantedRules[], missing: readonly string[]) {
    this.granted = granted
    this.missing = missing
  }

  /**
   * Allows, or returns undefined.
   *
   * @param key the {@link decisionKey} of the attributes, shared by several scopes
   */
  decide(question: AuthorizationAttributes, key: string): AuthorizationDecision | undefined {
    if (this.granted.length === 0) return undefined
    const { always, named } = this.#recall(question, key)
    return always ?? named?.get(question.resourcePath?.name ?? '')
  }

  #recall(question: AuthorizationAttributes, key: string): CachedDecision {
    const known = this.#remembered.get(key)
    if (known) return known
    const found = this.#find(question)
    if (key.length > keyLengthMax) return found
    if (this.#remembered.size >= cachedDecisionsMax) this.#remembered.clear()
    this.#remembered.set(key, found)
    return found
  }

  #find(question: AuthorizationAttributes): CachedDecision {
    const named = new Map<string, AuthorizationDecision>()
    for (const { grant, rules } of this.granted) {
      const matching = rules.filter((rule) => matchesRule(rule, question))
      if (matching.length === 0) continue
      const verdict: AuthorizationDecision = { allowed: true, reason: `RBAC: allowed by ${grant.describe()}` }
      // Resource names do not apply to paths.
      if (question.resourcePath === undefined || matching.some(({ resourceNames }) => resourceNames.length === 0))
        return { always: verdict, named: undefined }
      for (const name of matching.flatMap(({ resourceNames }) => resourceNames))
        if (!named.has(name)) named.set(name, verdict)
    }
    return { always: undefined, named: named.size > 0 ? named : undefined }
  }
}

/** The attributes without the object name, as a unique text. */
export function decisionKey({ verb, resourcePath: place, path }: AuthorizationAttributes): string {
  if (place === undefined) return `/${verb.length}:${verb}${path}`
  const { group, resource, subresource } = place
  return `${verb.length},${group.length},${resource.length}:${verb}${group}${resource}${subresource}`
}
