import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressFrom } from './peer.ts'
import { countName, planFor } from './plan.ts'
import { parseCpuUs, parseRssBytes, rssBytesOf } from './process-usage.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'evenkeel-peer-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('addressFrom', () => {
  test('is undefined without a configured server', () => {
    expect(addressFrom({})).toBeUndefined()
    expect(addressFrom({ KUBE_APISERVER_URL: '', KUBECONFIG: '' })).toBeUndefined()
  })

  test('reads URL, token and CA file', () => {
    const caFile = path.join(folder, 'ca.pem')
    writeFileSync(caFile, 'PEM')
    expect(
      addressFrom({ KUBE_APISERVER_URL: 'https://a', KUBE_APISERVER_TOKEN: 't', KUBE_APISERVER_CA: caFile }),
    ).toEqual({ url: 'https://a', token: 't', caPem: 'PEM' })
    expect(() => addressFrom({ KUBE_APISERVER_URL: 'https://a' })).toThrow('KUBE_APISERVER_TOKEN')
  })

  function kubeconfigFor(server: string): string {
    const kubeconfig = path.join(folder, 'config.json')
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'b',
        contexts: [
          { name: 'a', context: { cluster: 'x', user: 'x' } },
          { name: 'b', context: { cluster: 'c', user: 'u' } },
        ],
        clusters: [
          { name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from('PEM').toString('base64') } },
        ],
        users: [{ name: 'u', user: { token: 'secret' } }],
      }),
    )
    return kubeconfig
  }

  test('reads the current context of a kubeconfig', () => {
    expect(addressFrom({ KUBECONFIG: kubeconfigFor('https://127.0.0.1:6443') })).toEqual({
      url: 'https://127.0.0.1:6443',
      token: 'secret',
      caPem: 'PEM',
    })
  })

  test('ignores a remote cluster that only a kubeconfig names', () => {
    expect(addressFrom({ KUBECONFIG: kubeconfigFor('https://cluster.example.com') })).toBeUndefined()
  })

  test('rejects a kubeconfig without a token', () => {
    const kubeconfig = path.join(folder, 'empty.json')
    writeFileSync(kubeconfig, '{}')
    expect(() => addressFrom({ KUBECONFIG: kubeconfig })).toThrow('must have a current context')
  })
})

describe('parseCpuUs', () => {
  test('adds user and system time, whatever the name of the program', () => {
    expect(parseCpuUs('42 (a) b) c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 11')).toBe(2_000_000)
  })
})

describe('parseRssBytes', () => {
  test('reads kibibytes, and undefined for a process without memory', () => {
    expect(parseRssBytes('Name:\ta\nVmHWM:\t  9999 kB\nVmRSS:\t    2048 kB\n')).toBe(2 << 20)
    expect(parseRssBytes('Name:\tkthreadd\n')).toBeUndefined()
  })
})

describe('rssBytesOf', () => {
  test('is undefined without a process', () => {
    expect(rssBytesOf([])).toBeUndefined()
  })
})

describe('planFor', () => {
  test('loads the peer with the largest collection only when asked', () => {
    expect(planFor({ quick: false, peer100k: false }).peerListMax).toBe(10_000)
    expect(planFor({ quick: false, peer100k: true }).peerListMax).toBe(100_000)
  })
})

describe('countName', () => {
  test('shortens whole thousands', () => {
    expect([10_000, 100_000, 50, 1500].map(countName)).toEqual(['10k', '100k', '50', '1500'])
  })
})
