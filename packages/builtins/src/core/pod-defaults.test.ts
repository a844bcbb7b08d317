import { expect, test } from 'vitest'
import { pullPolicyFor } from './pod-defaults.ts'

const digest = `sha256:${'a'.repeat(64)}`

test.each([
  'nginx',
  'nginx:latest',
  'host:5000/a/b',
  'host:5000/a/b:latest',
  `a:latest@${digest}`,
  'localhost/x',
  'gcr.io/x_y',
  'docker.io/library/nginx',
  'a---b',
  '[::1]:50/a',
])('pullPolicyFor pulls %s always', (image) => {
  expect(pullPolicyFor(image)).toBe('Always')
})

test.each([
  'nginx:1.2',
  `a@${digest}`,
  `a:1@${digest}`,
  'Nginx',
  'a b',
  'nginx:',
  'f'.repeat(64),
  '-a',
  'a..b',
  'foo.com/Bar',
  'x:y:z',
  'a___b',
  '',
  'a'.repeat(100_000),
])('pullPolicyFor pulls %s only when it is missing', (image) => {
  expect(pullPolicyFor(image)).toBe('IfNotPresent')
})
