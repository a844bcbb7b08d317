/**
 * The `authorizer` of CEL admission expressions: authorization checks for the user of the request, or for a service
 * account.
 *
 *     authorizer.group('apps').resource('deployments').namespace('a').check('create').allowed()
 *     authorizer.path('/healthz').check('get').allowed()
 *
 * CEL evaluation is synchronous, and an authorizer may be asynchronous. A check without a decision yet ends the
 * evaluation by throwing {@link PendingDecision}. The caller waits for the decision and evaluates again, and then the
 * decision is cached. Each check runs once per request, however many expressions contain it.
 */
import { boolType, EvaluationError, member, objectType, Opaque, stringType, type Overload } from '@evenkeel/cel'
import { checkDnsLabel, checkDnsSubdomain } from '@evenkeel/cel/primitives'
import type { AdmissionUser, AuthorizeFunction, AuthorizerCheck, ResourceAttributes } from './expressions.ts'

export const authorizerType = objectType('kubernetes.authorization.Authorizer')
const pathCheckType = objectType('kubernetes.authorization.PathCheck')
const groupCheckType = objectType('kubernetes.authorization.GroupCheck')
export const resourceCheckType = objectType('kubernetes.authorization.ResourceCheck')
const decisionType = objectType('kubernetes.authorization.Decision')

/** Ends an evaluation that cannot continue before `answer` has resolved. */
export class PendingDecision extends Error {
  readonly answer: Promise<void>

  constructor(answer: Promise<void>) {
    super('the answer is not there yet')
    this.answer = answer
  }
}

interface CachedDecision {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string
}

/** The checks of one request and their decisions. */
class DecisionCache {
  readonly #ask: AuthorizeFunction
  readonly #known = new Map<string, CachedDecision>()

  constructor(ask: AuthorizeFunction) {
    this.#ask = ask
  }

  decide(check: AuthorizerCheck): Decision {
    const key = JSON.stringify(check)
    const known = this.#known.get(key) ?? this.#begin(check, key)
    return new Decision(known)
  }

  #begin(check: AuthorizerCheck, key: string): CachedDecision {
    try {
      const asked = this.#ask(check)
      if (!(asked instanceof Promise)) return this.#remember(key, asked)
      throw new PendingDecision(
        asked.then(
          (answer) => {
            this.#remember(key, answer)
          },
          (error: unknown) => {
            this.#remember(key, failed(error))
          },
        ),
      )
    } catch (error) {
      if (error instanceof PendingDecision) throw error
      return this.#remember(key, failed(error))
    }
  }

  #remember(key: string, answer: CachedDecision): CachedDecision {
    this.#known.set(key, answer)
    return answer
  }
}

function failed(error: unknown): CachedDecision {
  return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) }
}

/** A value with methods only: it cannot be compared or shown. */
abstract class AuthorizerReceiver extends Opaque {
  equals(other: Opaque): boolean {
    return this === other
  }

  override toString(): string {
    return this.typeName
  }
}

class AuthorizerValue extends AuthorizerReceiver {
  readonly typeName = authorizerType.name
  readonly user: AdmissionUser
  readonly answers: DecisionCache

  constructor(user: AdmissionUser, answers: DecisionCache) {
    super()
    this.user = user
    this.answers = answers
  }
}

class PathCheck extends AuthorizerReceiver {
  readonly typeName = pathCheckType.name
  readonly #authorizer: AuthorizerValue
  readonly #path: string

  constructor(authorizer: AuthorizerValue, path: string) {
    super()
    this.#authorizer = authorizer
    this.#path = path
  }

  decide(verb: string): Decision {
    const { user, answers } = this.#authorizer
    return answers.decide({ user, verb, path: this.#path, resourcePath: undefined })
  }
}

class GroupCheck extends AuthorizerReceiver {
  readonly typeName = groupCheckType.name
  readonly authorizer: AuthorizerValue
  readonly group: string

  constructor(authorizer: AuthorizerValue, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }
}

class ResourceCheck extends AuthorizerReceiver {
  readonly typeName = resourceCheckType.name
  readonly #authorizer: AuthorizerValue
  readonly #resourcePath: ResourceAttributes

  constructor(authorizer: AuthorizerValue, resourcePath: ResourceAttributes) {
    super()
    this.#authorizer = authorizer
    this.#resourcePath = resourcePath
  }

  with(changes: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.#authorizer, { ...this.#resourcePath, ...changes })
  }

  decide(verb: string): Decision {
    const { user, answers } = this.#authorizer
    return answers.decide({ user, verb, path: '', resourcePath: this.#resourcePath })
  }
}

class Decision extends AuthorizerReceiver {
  readonly typeName = decisionType.name
  readonly answer: CachedDecision

  constructor(answer: CachedDecision) {
    super()
    this.answer = answer
  }
}

const onCheck = [resourceCheckType, stringType]

export const authorizerFunctions: ReadonlyMap<string, readonly Overload[]> = new Map([
  ['path', [member('authorizer_path', [authorizerType, stringType], { to: pathCheckType, run: pathOf })]],
  [
    'group',
    [
      member('authorizer_group', [authorizerType, stringType], {
        to: groupCheckType,
        run: (authorizer: AuthorizerValue, group: string) => new GroupCheck(authorizer, group),
      }),
    ],
  ],
  [
    'serviceAccount',
    [
      member('authorizer_serviceaccount', [authorizerType, stringType, stringType], {
        to: authorizerType,
        run: accountOf,
      }),
    ],
  ],
  [
    'resource',
    [member('groupcheck_resource', [groupCheckType, stringType], { to: resourceCheckType, run: resourceOf })],
  ],
  [
    'subresource',
    [
      member('resourcecheck_subresource', onCheck, {
        to: resourceCheckType,
        run: (check: ResourceCheck, subresource: string) => check.with({ subresource }),
      }),
    ],
  ],
  [
    'namespace',
    [
      member('resourcecheck_namespace', onCheck, {
        to: resourceCheckType,
        run: (check: ResourceCheck, namespace: string) => check.with({ namespace }),
      }),
    ],
  ],
  [
    'name',
    [
      member('resourcecheck_name', onCheck, {
        to: resourceCheckType,
        run: (check: ResourceCheck, name: string) => check.with({ name }),
      }),
    ],
  ],
  // The authorizers ignore selectors. A selector narrows the check, and the decision for the wider check is safe.
  [
    'fieldSelector',
    [
      member('authorizer_fieldselector', onCheck, {
        to: resourceCheckType,
        run: (check: ResourceCheck, _: string) => check,
      }),
    ],
  ],
  [
    'labelSelector',
    [
      member('authorizer_labelselector', onCheck, {
        to: resourceCheckType,
        run: (check: ResourceCheck, _: string) => check,
      }),
    ],
  ],
  [
    'check',
    [
      member('pathcheck_check', [pathCheckType, stringType], {
        to: decisionType,
        run: (check: PathCheck, verb: string) => check.decide(verb),
      }),
      member('resourcecheck_check', onCheck, {
        to: decisionType,
        run: (check: ResourceCheck, verb: string) => check.decide(verb),
      }),
    ],
  ],
  [
    'errored',
    [
      member('decision_errored', [decisionType], {
        to: boolType,
        run: ({ answer }: Decision) => answer.error !== undefined,
      }),
    ],
  ],
  [
    'error',
    [member('decision_error', [decisionType], { to: stringType, run: ({ answer }: Decision) => answer.error ?? '' })],
  ],
  [
    'allowed',
    [member('decision_allowed', [decisionType], { to: boolType, run: ({ answer }: Decision) => answer.allowed })],
  ],
  [
    'reason',
    [member('decision_reason', [decisionType], { to: stringType, run: ({ answer }: Decision) => answer.reason })],
  ],
])

function pathOf(authorizer: AuthorizerValue, path: string): PathCheck | EvaluationError {
  return path.trim() === '' ? new EvaluationError('path must not be empty') : new PathCheck(authorizer, path)
}

function resourceOf({ authorizer, group }: GroupCheck, resource: string): ResourceCheck | EvaluationError {
  if (resource.trim() === '') return new EvaluationError('resource must not be empty')
  return new ResourceCheck(authorizer, { group, version: '*', resource, subresource: '', namespace: '', name: '' })
}

function accountOf({ answers }: AuthorizerValue, namespace: string, name: string): AuthorizerValue | EvaluationError {
  if (checkDnsSubdomain(name).length > 0) return new EvaluationError('Invalid service account name')
  if (checkDnsLabel(namespace).length > 0) return new EvaluationError('Invalid service account namespace')
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return new AuthorizerValue({ name: `system:serviceaccount:${namespace}:${name}`, groups }, answers)
}

/** The two variables of expressions. */
export function authorizerBindings(
  user: AdmissionUser,
  resourcePath: ResourceAttributes,
  ask: AuthorizeFunction,
): Readonly<Record<string, Opaque>> {
  const authorizer = new AuthorizerValue(user, new DecisionCache(ask))
  return { authorizer: authorizer, 'authorizer.requestResource': new ResourceCheck(authorizer, resourcePath) }
}
