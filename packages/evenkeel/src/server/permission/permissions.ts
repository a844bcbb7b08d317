/**
 * Who may do what, by Roles and Bindings.
 *
 * Follows the views of the four kinds. Permission only ever adds up: a question is allowed when some rule of some
 * binding of the user allows it, and otherwise there is no opinion. A ClusterRoleBinding holds everywhere, a
 * RoleBinding in its namespace only.
 */
import type { UnstructuredObject } from '#api'
import { formatErrors } from '../access/access.ts'
import type { AuthorizationAttributes, Authorizer, SubjectRules, AuthorizationDecision } from '../access/access.ts'
import { cachedRulesOf } from '../access/policy-rule.ts'
import type { PolicyRule } from '../access/policy-rule.ts'
import type { User } from '../call.ts'
import type { Informer } from '../views/view.ts'
import type { Informers } from '../views/views.ts'
import { RoleBindingIndex } from './bindings.ts'
import type { RoleGrant, RoleRef } from './bindings.ts'
import { decisionKey, GrantedScope } from './scope.ts'
import type { GrantedRules } from './scope.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

/** What one user is given, while nothing changes. */
interface UserGrants {
  readonly version: number
  readonly everywhere: GrantedScope
  /** By namespace; only those where anybody is bound. */
  readonly inside: Map<string, GrantedScope>
}

const scopesMax = 1000

export class RbacAuthorizer {
  readonly #roles: Informer
  readonly #clusterRoles: Informer
  readonly #bindings = new RoleBindingIndex()
  // Authenticators give the same value for the same credentials, so most callers are known by identity.
  readonly #rights = new WeakMap<User, UserGrants>()
  #version = 0

  /** @param views asked for before they start */
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

  /** A yes, or no opinion. */
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

  /** All rules that somebody holds in a namespace, or (empty) everywhere. */
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
