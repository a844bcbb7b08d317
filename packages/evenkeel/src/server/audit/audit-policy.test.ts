import { describe, expect, test } from 'vitest'
import { parseResourcePath } from '#wire'
import { checkAuditPolicy, decideAudit, defaultAuditPolicy } from './audit-policy.ts'
import type { AuditPolicy, AuditRule } from './audit-policy.ts'

const ann = { name: 'ann', groups: ['devs', 'system:authenticated'] }

interface Asked {
  readonly path?: string
  readonly verb?: string
  readonly user?: typeof ann | undefined
}

function levelOf(
  rule: Partial<AuditRule>,
  { path = '/api/v1/namespaces/default/pods/web', verb = 'get', ...rest }: Asked = {},
): string {
  const user = 'user' in rest ? rest.user : ann
  return decideAudit(
    { rules: [{ level: 'Metadata', ...rule }] },
    { path, verb, resourcePath: parseResourcePath(path), ...(user && { user }) },
  ).level
}

describe('decideAudit', () => {
  const log = '/api/v1/namespaces/default/pods/web/log'
  const cases: readonly (readonly [string, Partial<AuditRule>, Asked, boolean])[] = [
    ['a rule that says nothing fits all', {}, {}, true],
    ['users', { users: ['ann'] }, {}, true],
    ['other users', { users: ['bob'] }, {}, false],
    ['nobody is no user', { users: ['ann'] }, { user: undefined }, false],
    ['groups', { userGroups: ['ops', 'devs'] }, {}, true],
    ['other groups', { userGroups: ['ops'] }, {}, false],
    ['nobody is in no group', { userGroups: ['devs'] }, { user: undefined }, false],
    ['verbs', { verbs: ['get'] }, {}, true],
    ['other verbs', { verbs: ['list'] }, {}, false],
    ['namespaces', { namespaces: ['default'] }, {}, true],
    ['other namespaces', { namespaces: ['kube-system'] }, {}, false],
    ['what has no namespace', { namespaces: [''] }, { path: '/api/v1/nodes/a' }, true],
    ['a group', { resources: [{ group: '' }] }, {}, true],
    ['another group', { resources: [{ group: 'apps' }] }, {}, false],
    ['any group', { resources: [{ group: '*', resources: ['pods'] }] }, {}, true],
    ['a resource', { resources: [{ resources: ['pods'] }] }, {}, true],
    ['a resource is not what lies below it', { resources: [{ resources: ['pods'] }] }, { path: log }, false],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, { path: log }, true],
    ['all below a resource, and itself', { resources: [{ resources: ['pods/*'] }] }, {}, true],
    ['a subresource of all', { resources: [{ resources: ['*/log'] }] }, { path: log }, true],
    ['a subresource of all is not another', { resources: [{ resources: ['*/status'] }] }, { path: log }, false],
    ['everything', { resources: [{ resources: ['*'] }] }, { path: log }, true],
    ['a name', { resources: [{ resources: ['pods'], resourceNames: ['web'] }] }, {}, true],
    ['another name', { resources: [{ resources: ['pods'], resourceNames: ['db'] }] }, {}, false],
    ['resources are no other paths', { resources: [{ resources: ['*'] }] }, { path: '/healthz' }, false],
    ['a path', { nonResourceURLs: ['/healthz'] }, { path: '/healthz' }, true],
    ['paths below', { nonResourceURLs: ['/healthz*'] }, { path: '/healthz/ping' }, true],
    ['all paths', { nonResourceURLs: ['*'] }, { path: '/metrics' }, true],
    ['other paths are no resources', { nonResourceURLs: ['*'] }, {}, false],
  ]
  for (const [name, rule, asked, doesFit] of cases)
    test(name, () => {
      expect(levelOf(rule, asked)).toBe(doesFit ? 'Metadata' : 'None')
    })

  test('takes the first rule that fits, and joins the stages that are left out', () => {
    const policy: AuditPolicy = {
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'None', verbs: ['list'] },
        { level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
        { level: 'RequestResponse' },
      ],
    }
    const asked = { path: '/api', resourcePath: undefined, user: ann }
    expect(decideAudit(policy, { ...asked, verb: 'get' })).toEqual({
      level: 'Request',
      omitStages: new Set(['RequestReceived', 'Panic']),
      omitManagedFields: false,
    })
    expect(decideAudit(policy, { ...asked, verb: 'list' }).level).toBe('None')
    expect(decideAudit(policy, { ...asked, verb: 'watch' })).toEqual({
      level: 'RequestResponse',
      omitStages: new Set(['RequestReceived']),
      omitManagedFields: true,
    })
  })

  test('by default writes down who changed what, and no reads', () => {
    const at = (verb: string): string =>
      decideAudit(defaultAuditPolicy, {
        verb,
        path: '/api/v1/pods',
        resourcePath: parseResourcePath('/api/v1/pods'),
        user: ann,
      }).level
    expect(['create', 'update', 'patch', 'delete', 'deletecollection'].map(at)).toEqual(Array(5).fill('Metadata'))
    expect(['get', 'list', 'watch'].map(at)).toEqual(Array(3).fill('None'))
  })
})

test('checkAuditPolicy refuses what cannot be meant', () => {
  const refused: unknown[] = [
    { rules: [{ level: 'All' }] },
    { rules: [{ level: 'None', omitStages: ['End'] }] },
    { rules: [], omitStages: ['End'] },
    { rules: [{ level: 'None', nonResourceURLs: ['*'], namespaces: ['a'] }] },
  ]
  for (const policy of refused)
    expect(() => {
      checkAuditPolicy(policy as AuditPolicy)
    }).toThrow(RangeError)
})
