import { describe, expect, test } from 'vitest'
import type { Figure } from '../print.ts'
import type { LoadResult } from './load/jobs.ts'
import { middle, pairsOf, printPairs, race } from './race.ts'
import type { Target } from './target.ts'

const ours: Target = { name: 'ours', address: { url: 'https://ours', token: '' }, processIds: [], kinds: ['configmap'] }
const peer: Target = {
  name: 'peer',
  address: { url: 'https://peer', token: '' },
  processIds: [],
  kinds: ['configmap', 'custom'],
}

function result(perSecond: number, serverCpuUs = 1): LoadResult {
  return { count: 1, perSecond, p50Ms: 1, p99Ms: 2, serverCpuUs, generatorBusy: 0.1 }
}

const reading = { case: 'create', unit: 'requests/s', of: ({ perSecond }: LoadResult) => perSecond }

describe('pairsOf', () => {
  test('compares ConfigMaps, and our best match with the custom resource of the peer', () => {
    const [plain, custom] = pairsOf(ours, peer)
    expect([plain?.suffix, plain?.ours.kind, plain?.peer?.kind]).toEqual(['', 'configmap', 'configmap'])
    expect([custom?.suffix, custom?.ours.kind, custom?.peer?.kind]).toEqual([' vs cr', 'configmap', 'custom'])
    expect(pairsOf(peer, peer)[1]?.ours.kind).toBe('custom')
  })

  test('has one side without a peer', () => {
    expect(pairsOf(ours, undefined)).toMatchObject([{ suffix: '', peer: undefined }])
  })
})

describe('race', () => {
  test('measures the sides in turn, once per round, and returns the median of each', async () => {
    const turns: string[] = []
    const speeds = [30, 10, 20]
    const pairs = pairsOf(ours, peer)
    const results = await race(pairs, 3, ({ target, kind }, round) => {
      turns.push(`${target.name} ${kind} ${round}`)
      return Promise.resolve(result(speeds[round] as number))
    })
    expect(turns.slice(0, 4)).toEqual(['ours configmap 0', 'peer configmap 0', 'peer custom 0', 'ours configmap 1'])
    expect(turns).toHaveLength(9)
    expect(results(pairs[1]?.peer)?.perSecond).toBe(20)
    expect(results(undefined)).toBeUndefined()
  })

  test('takes the median of each number separately', () => {
    expect(middle([result(1, 9), result(2, 8), result(3, 7)])).toMatchObject({ perSecond: 2, serverCpuUs: 8 })
  })
})

describe('printPairs', () => {
  function printed(targetPeer: Target | undefined, of: (name: string) => LoadResult): Figure[] {
    const figures: Figure[] = []
    printPairs(pairsOf(ours, targetPeer), [reading], {
      results: (side) => side && of(`${side.target.name} ${side.kind}`),
      print: (figure) => {
        figures.push(figure)
      },
    })
    return figures
  }

  test('names the kind of the peer', () => {
    const figures = printed(peer, (name) => result(name === 'peer custom' ? 5 : 10))
    expect(figures).toMatchObject([
      { case: 'create', ours: 10, peer: 10, peerName: 'peer' },
      { case: 'create vs cr', ours: 10, peer: 5, peerName: 'peer cr', more: { oursKind: 'configmap' } },
    ])
  })

  test('reports that there is no peer, without figures', () => {
    expect(printed(undefined, () => result(10))).toMatchObject([
      { case: 'create', ours: 10, peer: undefined, peerName: 'no kube-apiserver given' },
    ])
  })

  test('omits missing measurements', () => {
    expect(printed(undefined, () => result(NaN))).toEqual([])
    expect(printed(peer, (name) => result(name.startsWith('peer') ? NaN : 1))[0]).toMatchObject({
      peer: undefined,
      peerName: 'peer: give KUBE_APISERVER_PID and ETCD_PID',
    })
  })
})
