import { expect, test } from 'vitest'
import { proxyFromEnvironment } from './transport.ts'

const proxy = 'http://proxy:3128'

test.each(
  (
    [
      ['none', 'https://api.example.com', {}, undefined],
      ['https', 'https://api.example.com', { HTTPS_PROXY: proxy }, proxy],
      ['small letters', 'https://api.example.com', { https_proxy: proxy }, proxy],
      ['the other protocol', 'https://api.example.com', { HTTP_PROXY: proxy }, undefined],
      ['http', 'http://api.example.com', { HTTP_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
      ['loopback', 'https://127.0.0.1:6443', { HTTPS_PROXY: proxy }, undefined],
      ['localhost', 'https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
      ['a name', 'https://api.example.com', { HTTPS_PROXY: proxy, NO_PROXY: 'other, api.example.com' }, undefined],
      ['a domain', 'https://api.example.com', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com' }, undefined],
      ['a domain with a dot', 'https://example.com', { HTTPS_PROXY: proxy, NO_PROXY: '.example.com' }, proxy],
      ['no suffix of a word', 'https://api.myexample.com', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com' }, proxy],
      ['a port', 'https://api.example.com:6443', { HTTPS_PROXY: proxy, NO_PROXY: 'api.example.com:6443' }, undefined],
      ['another port', 'https://api.example.com:6443', { HTTPS_PROXY: proxy, NO_PROXY: 'api.example.com:443' }, proxy],
      ['a range', 'https://10.1.2.3', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, undefined],
      ['another range', 'https://11.1.2.3', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8,nonsense/99' }, proxy],
      ['IPv6', 'https://[fd00::1]:443', { HTTPS_PROXY: proxy, NO_PROXY: 'fd00::/8' }, undefined],
      ['everything', 'https://api.example.com', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
    ] as [string, string, Record<string, string>, string | undefined][]
  ).map(([name, server, env, expected]) => [name, { server, env, expected }] as const),
)('proxyFromEnvironment: %s', (_, { server, env, expected }) => {
  expect(proxyFromEnvironment(server, env)).toBe(expected)
})
