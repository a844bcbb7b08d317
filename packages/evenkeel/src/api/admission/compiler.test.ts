import { expect, test } from 'vitest'
import {
  loadAdmissionEngine,
  type AdmissionInput,
  type AdmissionResult,
  type AdmissionScope,
  type AuthorizeFunction,
  type AuthorizerCheck,
} from './expressions.ts'
import type { Schema } from '../schema/schema.ts'

const { compiler } = await loadAdmissionEngine()

const request = {
  kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  requestKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
  requestResource: { group: 'apps', version: 'v1', resource: 'deployments' },
  requestSubResource: 'scale',
  name: 'web',
  namespace: 'a',
  operation: 'UPDATE',
  userInfo: { username: 'jane', groups: ['dev'] },
  dryRun: false,
}
const user = { name: 'jane', groups: ['dev'] }

async function evaluate(
  text: string,
  input: Partial<AdmissionInput> = {},
  scope: AdmissionScope = {},
): Promise<AdmissionResult> {
  const compiling = compiler(scope)
  return await compiling.start({ request, ...input }).evaluate(compiling.compile(text))
}

test.each([
  ['object.spec.replicas == 3', true],
  ['has(object.spec.paused)', false],
  ['oldObject == null', true],
  ['request.operation == "UPDATE" && request.userInfo.username == "jane" && "dev" in request.userInfo.groups', true],
  ['request.kind.kind + "." + request.resource.resource', 'Deployment.deployments'],
  ['has(request.userInfo.uid)', false],
  ['namespaceObject.metadata.labels["env"]', 'prod'],
  ['params == null', true],
])('an expression of admission sees the write: %s', async (text, value) => {
  const namespaceObject = { metadata: { name: 'a', labels: { env: 'prod' } } }
  expect(await evaluate(text, { object: { spec: { replicas: 3 } }, namespaceObject }, { hasParams: true })).toEqual({
    value,
  })
})

test.each([
  ['object.', /^compilation failed: ERROR: <input>:1:8/],
  ['unknown', /^compilation failed: .*undeclared reference to 'unknown'/],
  ['params.a', /undeclared reference to 'params'/],
  ['request.object', /undefined field 'object'/],
  ['1', /^must evaluate to bool but got int$/],
  ['object.a', /^must evaluate to bool but got dyn$/],
])('what is wrong with %s is said when it is compiled', (text, mistake) => {
  expect(compiler({}).compile(text, { resultTypes: ['bool'] }).error).toMatch(mistake)
})

test('an error names its expression, and a mistake is an error to whoever evaluates it', async () => {
  expect(await evaluate('object.spec.missing == 1', { object: { spec: {} } })).toEqual({
    error: "expression 'object.spec.missing == 1' resulted in error: no such key: missing",
    isExhausted: false,
  })
  expect(await evaluate('unknown')).toMatchObject({
    error: expect.stringMatching(/^compilation error: compilation failed: /) as string,
  })
  const compiling = compiler()
  expect(compiling.compile('1', { resultTypes: ['string', 'null_type'] }).error).toBe(
    'must evaluate to one of [string null_type] but got int',
  )
})

test('variables see those before them, are computed once and only when used, and are paid for', async () => {
  const compiling = compiler({ hasVariables: true })
  expect(compiling.compile('variables.later').error).toMatch(/undefined field 'later'/)
  compiling.define('names', 'object.items.map(item, item.name)')
  compiling.define('first', 'variables.names[0]')
  compiling.define('broken', 'object.missing')
  compiling.define('wrong', 'nothing')
  expect(compiling.define('count', 'size(variables.names)').type).toBe('int')
  const evaluation = compiling.start(
    { request, object: { items: [{ name: 'x' }, { name: 'y' }] } },
    { budget: 100_000 },
  )
  expect(await evaluation.evaluate(compiling.compile('variables.first + string(variables.count)'))).toEqual({
    value: 'x2',
  })
  const once = 100_000 - evaluation.budget
  const before = evaluation.budget
  await evaluation.evaluate(compiling.compile('variables.first + string(variables.count)'))
  expect(before - evaluation.budget).toBeLessThan(once)
  expect(await evaluation.evaluate(compiling.compile('variables.broken'))).toMatchObject({
    error: expect.stringContaining('composited variable "broken" fails to evaluate: no such key: missing') as string,
  })
  expect(await evaluation.evaluate(compiling.compile('variables.wrong'))).toMatchObject({
    error: expect.stringContaining('composited variable "wrong" fails to compile') as string,
  })
})

test('a variable of a library type is dyn, also inside of a list', () => {
  const compiling = compiler({ hasVariables: true })
  compiling.define('size', 'quantity("1Gi")')
  compiling.define('sizes', '[quantity("1Gi")]')
  compiling.define('names', '["a"]')
  const mistakeOf = (text: string): string | undefined => compiling.compile(text).error
  expect([mistakeOf('variables.size.anything'), mistakeOf('variables.sizes[0].anything')]).toEqual([
    undefined,
    undefined,
  ])
  expect(mistakeOf('variables.names[0].anything')).toMatch("type 'string' does not support field selection")
})

test('the types of a policy are checked for each of its resources, also in messages', async () => {
  const { typeWarnings } = await loadAdmissionEngine()
  const objectOf = (type: 'integer' | 'string'): Schema => ({
    root: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type } } } } },
    definitions: () => undefined,
  })
  const objects = [
    { name: 'a/v1, Kind=A', schema: objectOf('integer') },
    { name: 'b/v1, Kind=B', schema: objectOf('string') },
  ]
  const validations = [
    { expression: 'object.spec.size > 1', messageExpression: "'size: ' + object.spec.size" },
    { expression: 'variables.isLarge', messageExpression: '' },
  ]
  const variables = [{ name: 'isLarge', expression: 'size(string(object.spec.size)) > 3' }]
  expect(typeWarnings({ validations, variables }, { objects })).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning: expect.stringMatching(/^b\/v1, Kind=B: ERROR: .*'\(string, int\)'/s),
    },
    {
      fieldRef: 'spec.validations[0].messageExpression',
      warning: expect.stringMatching(/^a\/v1, Kind=A: ERROR: .*'\(string, int\)'/s),
    },
  ])
})

test('a budget that is spent ends everything', async () => {
  const compiling = compiler()
  const evaluation = compiling.start(
    { request, object: { list: Array.from({ length: 100 }, (_, index) => index) } },
    { budget: 50 },
  )
  expect(await evaluation.evaluate(compiling.compile('object.list.all(x, x >= 0)'))).toEqual({
    error: 'validation failed due to running out of cost budget, no further validation rules will be run',
    isExhausted: true,
  })
})

const mayDelete: AuthorizeFunction = ({ verb }) => ({ allowed: verb === 'delete', reason: `${verb} it is` })

test.each([
  [
    'authorizer.group("apps").resource("deployments").namespace("a").name("web").subresource("scale").check("delete").allowed()',
    true,
  ],
  ['authorizer.requestResource.check("delete").reason()', 'delete it is'],
  ['authorizer.path("/healthz").check("get").allowed()', false],
  ['authorizer.serviceAccount("a", "b").group("").resource("pods").check("delete").allowed()', true],
  ['authorizer.group("").resource("pods").fieldSelector("a=b").labelSelector("c").check("delete").errored()', false],
])('the authorizer answers: %s', async (text, value) => {
  for (const ask of [mayDelete, (check: AuthorizerCheck) => Promise.resolve(mayDelete(check))])
    expect(await evaluate(text, { user, authorize: ask })).toEqual({ value })
})

test('the authorizer is asked about the right user and place, once, and what it cannot say is an error of the decision', async () => {
  const asked: AuthorizerCheck[] = []
  const ask: AuthorizeFunction = (check) => {
    asked.push(check)
    return Promise.resolve({ allowed: true, reason: '' })
  }
  const text =
    'authorizer.requestResource.check("get").allowed() && authorizer.requestResource.check("get").allowed() && authorizer.serviceAccount("n", "s").group("").resource("pods").check("get").allowed()'
  const outcome = await evaluate(text, { user, authorize: ask })
  expect(outcome).toMatchObject({ error: expect.stringContaining('actual cost limit exceeded') as string })
  expect(await evaluate(text.slice(0, text.lastIndexOf(' &&')), { user, authorize: ask })).toEqual({ value: true })
  expect(asked.slice(0, 2)).toEqual([
    {
      user,
      verb: 'get',
      path: '',
      resourcePath: {
        group: 'apps',
        version: '*',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'a',
        name: 'web',
      },
    },
    {
      user,
      verb: 'get',
      path: '',
      resourcePath: {
        group: 'apps',
        version: '*',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'a',
        name: 'web',
      },
    },
  ])
  for (const broken of [
    () => Promise.reject(new Error('down')),
    () => {
      throw new Error('down')
    },
  ]) {
    expect(await evaluate('authorizer.path("/x").check("get").error()', { user, authorize: broken })).toEqual({
      value: 'down',
    })
  }
  expect(await evaluate('authorizer.path(" ").check("get").allowed()', { user, authorize: ask })).toMatchObject({
    error: expect.stringContaining('path must not be empty') as string,
  })
})
