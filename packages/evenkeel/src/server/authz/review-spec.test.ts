import { expect, test } from 'vitest'
import { parseFieldSelector, parseLabelSelector } from '#api'
import { may } from './rbac.fixture.ts'
import { reviewSpec } from './webhook-authorizer.ts'

test('reviewSpec leaves out what is empty, and names paths as paths', () => {
  expect(reviewSpec(may('get /metrics'))).toEqual({
    user: 'u',
    nonResourceAttributes: { path: '/metrics', verb: 'get' },
  })
  const question = may('list pods')
  expect(reviewSpec({ ...question, user: { name: 'u', uid: '1', groups: ['a'], extra: { k: ['v'] } } })).toEqual({
    user: 'u',
    uid: '1',
    groups: ['a'],
    extra: { k: ['v'] },
    resourceAttributes: { verb: 'list', version: 'v1', resource: 'pods' },
  })
})

test('reviewSpec passes selectors on in the form of the API', () => {
  const question = {
    ...may('list pods'),
    fields: parseFieldSelector('spec.nodeName=a,metadata.name!=b'),
    labels: parseLabelSelector('a=b,c in (d,e),!f,g,h!=i'),
  }
  expect(reviewSpec(question)['resourceAttributes']).toMatchObject({
    fieldSelector: {
      requirements: [
        { key: 'metadata.name', operator: 'NotIn', values: ['b'] },
        { key: 'spec.nodeName', operator: 'In', values: ['a'] },
      ],
    },
    labelSelector: {
      requirements: expect.arrayContaining([
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'In', values: ['d', 'e'] },
        { key: 'f', operator: 'DoesNotExist' },
        { key: 'g', operator: 'Exists' },
        { key: 'h', operator: 'NotIn', values: ['i'] },
      ]) as unknown,
    },
  })
})
