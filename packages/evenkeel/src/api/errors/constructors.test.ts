import { expect, test } from 'vitest'
import type { ApiError } from './api-error.ts'
import * as makers from './constructors.ts'

const pod = { kind: 'pods', name: 'a' }
const web = { group: 'apps', kind: 'deployments', name: 'web' }

/** Every maker with the sentence kube-apiserver 1.36 says in the same situation. */
const cases: [string, ApiError, Partial<ApiError>][] = [
  [
    'notFound, core group',
    makers.notFound(pod),
    { reason: 'NotFound', code: 404, message: 'pods "a" not found', subject: pod },
  ],
  ['notFound, other group', makers.notFound(web), { message: 'deployments.apps "web" not found', subject: web }],
  ['notFound without a name', makers.notFound({ kind: 'pods', name: '' }), { message: 'pods "" not found' }],
  [
    'alreadyExists',
    makers.alreadyExists(web),
    { reason: 'AlreadyExists', code: 409, message: 'deployments.apps "web" already exists' },
  ],
  [
    'alreadyExists while terminating',
    makers.alreadyExists(pod, { terminating: true }),
    { message: 'object is being deleted: pods "a" already exists' },
  ],
  [
    'generateNameConflict',
    makers.generateNameConflict(pod),
    {
      reason: 'AlreadyExists',
      message: 'pods "a" already exists, the server was not able to generate a unique name for the object',
      retryAfterMs: 1000,
    },
  ],
  ['unauthorized', makers.unauthorized(), { reason: 'Unauthorized', code: 401, message: 'Unauthorized' }],
  [
    'forbidden, one object',
    makers.forbidden(web, 'User "u" cannot get'),
    { reason: 'Forbidden', code: 403, message: 'deployments.apps "web" is forbidden: User "u" cannot get' },
  ],
  ['forbidden, all objects', makers.forbidden({ kind: 'pods' }, 'no'), { message: 'pods is forbidden: no' }],
  [
    'forbidden, a path',
    makers.forbidden(undefined, 'User "u" cannot get path "/metrics"'),
    { message: 'forbidden: User "u" cannot get path "/metrics"' },
  ],
  [
    'namespaceTerminating',
    makers.namespaceTerminating(pod, 'web'),
    {
      reason: 'Forbidden',
      message: 'pods "a" is forbidden: unable to create new content in namespace web because it is being terminated',
      causes: [
        { reason: 'NamespaceTerminating', message: 'namespace web is being terminated', field: 'metadata.namespace' },
      ],
    },
  ],
  [
    'conflict',
    makers.conflict(pod, 'Precondition failed'),
    { reason: 'Conflict', code: 409, message: 'Operation cannot be fulfilled on pods "a": Precondition failed' },
  ],
  [
    'staleVersion',
    makers.staleVersion(web),
    {
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again',
    },
  ],
  [
    'applyConflict',
    makers.applyConflict('Apply failed with 1 conflict: conflict with "b": .spec', [
      { reason: 'FieldManagerConflict', field: '.spec' },
    ]),
    { reason: 'Conflict', code: 409, causes: [{ reason: 'FieldManagerConflict', field: '.spec' }] },
  ],
  ['gone', makers.gone('old'), { reason: 'Gone', code: 410, message: 'old' }],
  [
    'expired',
    makers.expired('too old resource version: 1 (5)'),
    { reason: 'Expired', code: 410, message: 'too old resource version: 1 (5)', metadata: undefined },
  ],
  ['expired with a way on', makers.expired('x', { continueToken: 'tok' }), { metadata: { continue: 'tok' } }],
  ['badRequest', makers.badRequest('what?'), { reason: 'BadRequest', code: 400, message: 'what?' }],
  [
    'tooManyRequests',
    makers.tooManyRequests('slow down', { retryAfterMs: 7000 }),
    { reason: 'TooManyRequests', code: 429, message: 'slow down', retryAfterMs: 7000 },
  ],
  ['tooManyRequests, default wait', makers.tooManyRequests('slow down'), { retryAfterMs: 1000 }],
  [
    'serviceUnavailable',
    makers.serviceUnavailable('starting'),
    { reason: 'ServiceUnavailable', code: 503, message: 'starting', retryAfterMs: undefined },
  ],
  [
    'methodNotAllowed',
    makers.methodNotAllowed({ group: 'apps', kind: 'deployments' }, 'patch'),
    {
      reason: 'MethodNotAllowed',
      code: 405,
      message: 'patch is not supported on resources of kind "deployments.apps"',
    },
  ],
  [
    'serverTimeout',
    makers.serverTimeout({ group: 'apps', kind: 'deployments' }, 'list'),
    {
      reason: 'ServerTimeout',
      code: 500,
      message: 'The list operation against deployments.apps could not be completed at this time, please try again.',
      subject: { group: 'apps', kind: 'deployments', name: 'list' },
      retryAfterMs: 2000,
    },
  ],
  [
    'timeout',
    makers.timeout('request did not complete'),
    { reason: 'Timeout', code: 504, message: 'Timeout: request did not complete' },
  ],
  [
    'resourceVersionTooLarge',
    makers.resourceVersionTooLarge('10', '5'),
    {
      reason: 'Timeout',
      code: 504,
      message: 'Timeout: Too large resource version: 10, current: 5',
      retryAfterMs: 1000,
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    },
  ],
  [
    'requestEntityTooLarge',
    makers.requestEntityTooLarge('limit is 3145728'),
    { reason: 'RequestEntityTooLarge', code: 413, message: 'Request entity too large: limit is 3145728' },
  ],
  [
    'notAcceptable',
    makers.notAcceptable(['application/json', 'application/yaml']),
    {
      reason: 'NotAcceptable',
      code: 406,
      message: 'only the following media types are accepted: application/json, application/yaml',
    },
  ],
  [
    'unsupportedMediaType',
    makers.unsupportedMediaType(['application/json']),
    {
      reason: 'UnsupportedMediaType',
      code: 415,
      message: 'the body of the request was in an unknown format - accepted media types include: application/json',
    },
  ],
  [
    'internalError',
    makers.internalError(new Error('boom')),
    { reason: 'InternalError', code: 500, message: 'Internal error occurred: boom', causes: [{ message: 'boom' }] },
  ],
  ['internalError of no Error', makers.internalError('boom'), { message: 'Internal error occurred: boom' }],
]

test.each(cases)('%s', (_name, error, expected) => expect(error).toMatchObject(expected))

test('every maker has a case', () => {
  const covered = cases.map(([name]) => name.split(/[, ]/)[0])
  expect(Object.keys(makers).filter((maker) => !covered.includes(maker))).toEqual([])
})

test('conflict and internalError keep the original error', () => {
  const cause = new Error('x')
  expect(makers.internalError(cause).cause).toBe(cause)
  expect(makers.conflict(pod, 'y', { cause }).cause).toBe(cause)
})
