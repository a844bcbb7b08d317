/**
 * For operators: health, version, metrics and authentication.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { ServerCase } from '../../target.ts'

const health: readonly ServerCase[] = [
  ...['healthz', 'livez', 'readyz'].map((name): ServerCase => ({
    id: `server/operations/${name}`,
    rule: `\`/${name}\` returns \`ok\` as plain text; with verbose it lists the checks, and each check has its own path.`,
    async run(place) {
      const plain = await place.client.request('GET', `/${name}`)
      assert.deepEqual([plain.status, plain.text], [200, 'ok'])
      assert.match(plain.header('content-type'), /^text\/plain/)
      const verbose = await place.client.request('GET', `/${name}?verbose`)
      assert.equal(verbose.status, 200)
      assert.match(verbose.text, /^\[\+\]ping ok\n(?:\[\+\].+ ok\n)*/)
      assert.ok(verbose.text.endsWith(`${name} check passed\n`), verbose.text)
      const alone = await place.client.request('GET', `/${name}/ping`)
      assert.deepEqual([alone.status, alone.text], [200, 'ok'])
    },
  })),
  {
    id: 'server/operations/exclude',
    rule: 'A check can be excluded; excluding an unknown check only adds a note.',
    async run(place) {
      const { status, text } = await place.client.request('GET', '/readyz?verbose&exclude=ping&exclude=judge')
      assert.equal(status, 200)
      assert.match(text, /^\[\+\]ping excluded: ok$/m)
      assert.match(text, /^warn: some health checks cannot be excluded: no matches for "judge"$/m)
    },
  },
  {
    id: 'server/operations/unknown-check',
    rule: 'An unknown check is a 404.',
    async run(place) {
      assert.equal((await place.client.request('GET', '/livez/judge')).status, 404)
    },
  },
  {
    id: 'server/operations/version',
    rule: '`/version` returns the Kubernetes version in a format that clients can parse.',
    async run(place) {
      expectMatch(ok(await place.client.request('GET', '/version'), 200), {
        major: /^\d+$/,
        minor: /^\d+\+?$/,
        gitVersion: /^v\d+\.\d+\.\d+/,
        platform: /^[a-z0-9]+\/[a-z0-9]+$/,
      })
    },
  },
  {
    id: 'server/operations/metrics',
    rule: '`/metrics` counts requests in the Prometheus text format.',
    async run(place) {
      ok(await place.list('configmaps'))
      const answer = await place.client.request('GET', '/metrics')
      assert.equal(answer.status, 200)
      assert.match(answer.header('content-type'), /^text\/plain; version=0\.0\.4/)
      assert.match(answer.text, /^# TYPE apiserver_request_total counter$/m)
      assert.match(
        answer.text,
        /^apiserver_request_total\{[^}]*code="200"[^}]*resource="configmaps"[^}]*verb="LIST"[^}]*\} [1-9]/m,
      )
      assert.match(answer.text, /^# TYPE apiserver_request_duration_seconds histogram$/m)
      assert.match(answer.text, /^# TYPE apiserver_current_inflight_requests gauge$/m)
    },
  },
]

const admission: readonly ServerCase[] = [
  {
    id: 'server/auth/no-credentials',
    rule: 'Without anonymous access, a request without credentials is a 401.',
    needs: ['authentication', 'no-anonymous'],
    async run(place) {
      for (const path of ['/api', '/api/v1/namespaces', '/judge']) {
        assert.deepEqual(expectStatus(await place.stranger.request('GET', path), { code: 401 }), {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Unauthorized',
          reason: 'Unauthorized',
          code: 401,
        })
      }
    },
  },
  {
    id: 'server/auth/bad-token',
    rule: 'Invalid credentials are a 401, even if anonymous requests are allowed.',
    needs: ['authentication'],
    async run(place) {
      for (const authorization of ['Bearer wrong', 'Bearer']) {
        const answer = await place.stranger.request('GET', '/api/v1/namespaces', { headers: { authorization } })
        assert.ok(answer.status === 401 || (authorization === 'Bearer' && answer.status === 403), String(answer))
      }
      expectStatus(
        await place.stranger.request('GET', '/api/v1/namespaces', { headers: { authorization: 'Bearer wrong' } }),
        { code: 401, reason: 'Unauthorized', message: 'Unauthorized' },
      )
    },
  },
  {
    id: 'server/auth/may-i',
    rule: 'A SelfSubjectAccessReview confirms the rights of an administrator.',
    async run(place) {
      const spec = { resourceAttributes: { verb: 'create', resource: 'configmaps', namespace: place.namespace } }
      const answer = await place.client.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        body: { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec },
      })
      expectMatch(ok(answer, 201), { kind: 'SelfSubjectAccessReview', spec, status: { allowed: true } })
    },
  },
]

export const operationCases: readonly ServerCase[] = [...health, ...admission]
