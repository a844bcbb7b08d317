import { expect, test } from 'vitest'
import type { RequestInfo } from '../request-context.ts'
import type { ClientCertificates } from './client-certificates.ts'
import { frontProxyAuthenticator } from './front-proxy.ts'

const certificates = { check: () => ({ commonName: 'edge' }) } as unknown as ClientCertificates

function asking(headers: Record<string, string>): RequestInfo {
  return { request: { headers } } as unknown as RequestInfo
}

test('header names can be others: the first user counts, groups of all headers', () => {
  const authenticate = frontProxyAuthenticator({
    certificates,
    allowedNames: ['edge'],
    usernameHeaders: ['X-Remote-Login', 'X-Remote-User'],
    groupHeaders: ['X-Remote-Team', 'X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-More-'],
  })
  const headers = {
    'x-remote-user': 'second',
    'x-remote-login': 'jane',
    'x-remote-group': 'c',
    'x-remote-team': 'a, b\nb',
    'x-remote-more-example.com%2fkey': 'value',
    'x-remote-extra-other': 'ignored',
  }
  expect(authenticate(asking(headers))).toEqual({
    name: 'jane',
    groups: ['a, b', 'b', 'c', 'system:authenticated'],
    extra: { 'example.com/key': ['value'] },
  })
  expect(authenticate(asking({ 'x-remote-name': 'jane' }))).toBeUndefined()
})

test('other names of proxies are ignored', () => {
  const authenticate = frontProxyAuthenticator({ certificates, allowedNames: ['other'] })
  expect(authenticate(asking({ 'x-remote-user': 'jane' }))).toBeUndefined()
})

test('a header whose values could be joined is refused', () => {
  expect(() => frontProxyAuthenticator({ certificates, groupHeaders: ['X-Groups'] })).toThrow(
    'headers of a front proxy must begin with X-Remote-, got "X-Groups"',
  )
})
