import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AuthorizationAttributes, AuthorizationDecision } from './authorizer.ts'
import { bind, may, role, World } from './rbac.fixture.ts'
import { decisionKey, GrantedScope } from './rbac.ts'

const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const decideIn = (scope: GrantedScope, question: AuthorizationAttributes): AuthorizationDecision | undefined =>
  scope.decide(question, decisionKey(question))
const allowed = (world: World, question: AuthorizationAttributes): boolean =>
  world.permissions.decide(question)?.allowed ?? false

test('Permissions: a ClusterRoleBinding holds everywhere, a RoleBinding in its namespace, and says why', () => {
  const world = new World()
  for (const object of [
    role('reader', [readPods]),
    bind('reader', ['user u']),
    bind('reader', ['group devs'], { namespace: 'dev', name: 'devs' }),
  ])
    world.put(object)
  expect(world.permissions.decide(may('get pods'))).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to User "u"',
  })
  expect(allowed(world, may('get pods', { namespace: 'any' }))).toBe(true)
  expect(world.permissions.decide(may('get pods', { name: 'v', groups: ['devs'], namespace: 'dev' }))?.reason).toBe(
    'RBAC: allowed by RoleBinding "devs/dev" of ClusterRole "reader" to Group "devs"',
  )
  expect(world.permissions.decide(may('get pods', { name: 'v', groups: ['devs'], namespace: 'prod' }))).toBeUndefined()
  expect(world.permissions.decide(may('get pods', { name: 'v', groups: ['devs'] }))).toBeUndefined()
  expect(allowed(world, may('create pods'))).toBe(false)
})

test('Permissions: a service account is its user, and without a namespace that of the binding', () => {
  const world = new World()
  for (const object of [
    role('reader', [readPods]),
    bind('reader', ['account robot', 'account ops/robot'], { namespace: 'dev' }),
    bind('reader', ['account robot']),
  ])
    world.put(object)
  expect(
    world.permissions.decide(may('get pods', { name: 'system:serviceaccount:dev:robot', namespace: 'dev' }))?.reason,
  ).toBe('RBAC: allowed by RoleBinding "reader/dev" of ClusterRole "reader" to ServiceAccount "robot/dev"')
  expect(allowed(world, may('get pods', { name: 'system:serviceaccount:ops:robot', namespace: 'dev' }))).toBe(true)
  expect(allowed(world, may('get pods', { name: 'system:serviceaccount:dev:robot' }))).toBe(false)
  expect(allowed(world, may('get pods', { name: 'robot', namespace: 'dev' }))).toBe(false)
})

test('Permissions: names of a rule are names of objects, and an empty name is no name', () => {
  const world = new World()
  world.put(role('named', [{ ...readPods, resourceNames: ['a', 'constructor'] }]))
  world.put(bind('named', ['user u']))
  expect(
    ['a', 'constructor', 'b', '', 'toString', '__proto__'].map((object) => allowed(world, may('get pods', { object }))),
  ).toEqual([true, true, false, false, false, false])
})

test('Permissions: a role that is not there is named in the refusal', () => {
  const world = new World()
  world.put(bind('gone', ['user u']))
  world.put(bind('also-gone', ['user u'], { namespace: 'dev', kind: 'Role' }))
  expect(world.permissions.decide(may('get pods'))).toEqual({
    allowed: false,
    noOpinion: true,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  })
  expect(world.permissions.decide(may('get pods', { namespace: 'dev' }))?.reason).toBe(
    'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "also-gone" not found]',
  )
  expect(world.permissions.rulesFor({ name: 'u', groups: [] }, '').errors).toHaveLength(1)
  expect(world.permissions.rulesOf({ kind: 'Role', name: 'x' }, 'dev')).toBeUndefined()
})

test('Permissions: what changes is in force at once, also for a user who asked before', () => {
  const world = new World()
  const question = may('get pods', { groups: ['g'] })
  const [reader, binding] = [role('reader', [readPods]), bind('reader', ['group g', 'user u'])]
  const answers = [reader, binding].map((object) => {
    world.put(object)
    return allowed(world, question)
  })
  world.put(role('reader', []))
  answers.push(allowed(world, question))
  world.put(reader)
  answers.push(allowed(world, question))
  world.put(bind('reader', ['user other']))
  answers.push(allowed(world, question))
  world.put(binding)
  world.remove(binding)
  answers.push(allowed(world, question))
  expect(answers).toEqual([false, true, false, true, false, false])
})

test('Permissions: a removed binding leaves the others of its namespace in force', () => {
  const world = new World()
  const [first, second] = ['u', 'v'].map((name) => bind('reader', [`user ${name}`], { namespace: 'dev', name }))
  for (const object of [role('reader', [readPods]), first, second]) if (object) world.put(object)
  if (first) world.remove(first)
  expect(allowed(world, may('get pods', { name: 'u', namespace: 'dev' }))).toBe(false)
  expect(allowed(world, may('get pods', { name: 'v', namespace: 'dev' }))).toBe(true)
})

test('Scope: no question is taken for another, however its texts are put together', () => {
  const grant = { namespace: '', role: { kind: 'ClusterRole', name: 'x' }, describe: () => 'x' }
  const rule = {
    verbs: ['get'],
    apiGroups: ['a'],
    resources: ['pods/log'],
    resourceNames: [],
    nonResourceURLs: ['apodslog'],
  }
  // The same letters, cut in other places; and the same as a path.
  const letters = 'getapodslog'
  const questions: fc.Arbitrary<AuthorizationAttributes> = fc
    .tuple(fc.constantFrom(0, 3), fc.constantFrom(3, 4, 5), fc.constantFrom(4, 5, 8), fc.boolean())
    .map(([first, second, third, isPath]) => {
      const [verb, group, resource, subresource] = [
        letters.slice(0, first),
        letters.slice(first, second),
        letters.slice(second, third),
        letters.slice(third),
      ]
      const place = { group, version: '', resource, subresource, namespace: '', name: '' }
      return {
        user: { name: '', groups: [] },
        verb,
        path: letters.slice(first),
        resourcePath: isPath ? undefined : place,
      }
    })
  fc.assert(
    fc.property(fc.array(questions, { minLength: 10, maxLength: 40 }), (asked) => {
      const scope = new GrantedScope([{ grant, rules: [rule] }], [])
      for (const question of asked)
        expect(decideIn(scope, question)?.allowed).toBe(
          decideIn(new GrantedScope([{ grant, rules: [rule] }], []), question)?.allowed,
        )
    }),
  )
})

test('Scope: memory is bounded and forgets nothing that matters', () => {
  const grant = { namespace: '', role: { kind: 'ClusterRole', name: 'x' }, describe: () => 'x' }
  const scope = new GrantedScope([{ grant, rules: [{ ...readPods, resourceNames: [], nonResourceURLs: [] }] }], [])
  for (let index = 0; index < 5000; index++) expect(decideIn(scope, may(`get r${index}`))).toBeUndefined()
  expect(decideIn(scope, may('get pods'))?.allowed).toBe(true)
  expect(decideIn(scope, may(`get ${'x'.repeat(2000)}`))).toBeUndefined()
})
