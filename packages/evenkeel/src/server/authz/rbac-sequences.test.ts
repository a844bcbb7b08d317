/**
 * Row 12 as a property: whatever people with some rights do to roles and bindings, nobody comes to hold a right that
 * neither they nor the one who acted held before. Every step is a real call; every right is asked of the server.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PolicyRule } from '@evenkeel/builtins'
import type { User } from '../request-context.ts'
import type { AuthorizationAttributes } from './authorizer.ts'
import { bind, role } from './rbac.fixture.ts'
import { rbac, startCompany, type Caller, type Company } from './users.fixture.ts'

const people = ['ann', 'bob', 'cy'] as const
type Person = (typeof people)[number]
const namespaces = ['n1', 'n2'] as const
const plurals = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'] as const
const names = ['x', 'y', 'ann', 'bob'] as const

interface Step {
  readonly actor: Person
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'APPLY' | 'DELETE'
  readonly plural: (typeof plurals)[number]
  readonly namespace: (typeof namespaces)[number]
  readonly name: string
  readonly rules: readonly Partial<PolicyRule>[]
  readonly gathers: boolean
  readonly given: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string; readonly to: Person }
}

const group = 'rbac.authorization.k8s.io'
/** Of these verbs a star would hold `escalate` and `bind` too, and whoever holds those may give what they do not have. */
const writing = ['get', 'create', 'update', 'patch', 'delete']

const rulesWith = (verbs: string[]): fc.Arbitrary<Partial<PolicyRule>> =>
  fc.oneof(
    fc.record({
      verbs: fc.subarray(['get', 'update', '*'], { minLength: 1 }),
      apiGroups: fc.constant(['']),
      resources: fc.subarray(['pods', 'secrets', '*'], { minLength: 1 }),
      resourceNames: fc.oneof(fc.constant([]), fc.constant(['a'])),
    }),
    fc.record({
      verbs: fc.subarray(verbs, { minLength: 2 }),
      apiGroups: fc.constant([group]),
      resources: fc.subarray([...plurals, '*'], { minLength: 1 }),
    }),
    fc.constant({ verbs: ['get'], nonResourceURLs: ['/metrics'] }),
  )

/** Everybody may write some of the kinds, or there would be little to see. */
const managing = fc.record({
  verbs: fc.constant(writing),
  apiGroups: fc.constant([group]),
  resources: fc.subarray([...plurals], { minLength: 3 }),
})

/** What somebody is likely to hold. */
const small: fc.Arbitrary<Partial<PolicyRule>> = fc.record({
  verbs: fc.constantFrom(['get'], ['update']),
  apiGroups: fc.constant(['']),
  resources: fc.constantFrom(['pods'], ['secrets']),
  resourceNames: fc.constantFrom(['a'], []),
})

const steps: fc.Arbitrary<Step> = fc.record({
  actor: fc.constantFrom(...people),
  method: fc.constantFrom('POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'),
  plural: fc.constantFrom(...plurals),
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...names),
  rules: fc.array(fc.oneof(small, rulesWith([...writing, 'escalate', 'bind', '*'])), { maxLength: 2 }),
  gathers: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  given: fc.record({
    kind: fc.constantFrom('Role', 'ClusterRole'),
    name: fc.constantFrom(...names),
    to: fc.constantFrom(...people),
  }),
})

/** What each person starts with, and where: everywhere, or in a namespace. */
const start = fc.tuple(
  ...people.map(() =>
    fc.record({
      rules: fc
        .tuple(managing, fc.array(rulesWith(writing), { minLength: 1, maxLength: 4 }))
        .map(([first, more]) => [first, ...more]),
      namespace: fc.constantFrom('', '', '', ...namespaces),
    }),
  ),
)

/** Every right there is in this small world. */
const questions: readonly Omit<AuthorizationAttributes, 'user'>[] = [
  ...['get', 'create', 'update', 'patch', 'delete', 'escalate', 'bind'].flatMap((verb) =>
    ['pods', 'secrets', ...plurals].flatMap((resource) =>
      ['', ...namespaces].flatMap((namespace) =>
        ['', 'a'].map((name) => ({
          verb,
          path: '',
          resourcePath: {
            group: resource === 'pods' || resource === 'secrets' ? '' : group,
            version: 'v1',
            resource,
            subresource: '',
            namespace,
            name,
          },
        })),
      ),
    ),
  ),
  { verb: 'get', path: '/metrics', resourcePath: undefined },
]

function objectOf({ plural, name, namespace, rules: wanted, gathers, given }: Step): object {
  if (plural === 'roles')
    return role(
      name,
      wanted.filter((rule) => rule.nonResourceURLs === undefined),
      namespace,
    )
  if (plural === 'clusterroles')
    return {
      ...role(name, wanted),
      ...(gathers && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
    }
  return plural === 'rolebindings'
    ? bind(given.name, [`user ${given.to}`], { namespace, kind: given.kind, name })
    : bind(given.name, [`user ${given.to}`], { name })
}

async function play(step: Step, caller: Caller): Promise<number> {
  const { method, plural, namespace, name } = step
  const collection = plural.startsWith('cluster') ? `${rbac}/${plural}` : `${rbac}/namespaces/${namespace}/${plural}`
  if (method === 'POST') return (await caller('POST', collection, objectOf(step))).status
  if (method === 'DELETE') return (await caller('DELETE', `${collection}/${name}`)).status
  if (method === 'APPLY')
    return (await caller('APPLY', `${collection}/${name}?fieldManager=t&force=true`, objectOf(step))).status
  return (await caller(method, `${collection}/${name}`, objectOf(step))).status
}

function rightsOf(company: Company, users: readonly User[]): readonly ReadonlySet<number>[] {
  return users.map(
    (user) =>
      new Set(
        questions.flatMap((question, index) => {
          const verdict = company.server.server.authorizer.decide({ ...question, user })
          return !(verdict instanceof Promise) && verdict.allowed ? [index] : []
        }),
      ),
  )
}

test('row 12: no sequence of allowed calls yields a right not held', async () => {
  let done = 0
  await fc.assert(
    fc.asyncProperty(start, fc.array(steps, { minLength: 4, maxLength: 16 }), async (given, sequence) => {
      await using company = await startCompany()
      for (const name of namespaces) await company.admin('POST', '/api/v1/namespaces', { metadata: { name } })
      for (const [index, { rules: held, namespace }] of given.entries()) {
        const name = people[index] ?? 'ann'
        await company.admin('POST', `${rbac}/clusterroles`, role(name, held))
        await company.admin(
          'POST',
          namespace === '' ? `${rbac}/clusterrolebindings` : `${rbac}/namespaces/${namespace}/rolebindings`,
          bind(name, [`user ${name}`], { namespace }),
        )
      }
      const users = people.map((name) => ({ name, groups: ['system:authenticated'] }))
      let before = rightsOf(company, users)
      for (const step of sequence) {
        const status = await play(step, company.as(step.actor))
        if (status < 300) done++
        const [after, own] = [rightsOf(company, users), before[people.indexOf(step.actor)]]
        for (const [index, rights] of after.entries()) {
          const gained = [...rights]
            .filter((right) => !before[index]?.has(right) && !own?.has(right))
            .map((right) => questions[right])
          expect(gained, `${step.actor} gave ${people[index] ?? ''} what ${step.actor} does not have`).toEqual([])
        }
        before = after
      }
    }),
    { numRuns: 15 },
  )
  // Had everything been refused, this would have shown nothing.
  expect(done).toBeGreaterThan(5)
}, 60_000)
