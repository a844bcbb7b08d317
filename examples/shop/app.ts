/**
 * A small shop from objects: a page, an API, a worker, a database, its migration, and a report every night.
 *
 *   web ─▶ api ─▶ database ◀─ worker          migrate: once, before api and worker
 *
 *   npx evenkeel run examples/shop/app.ts
 *
 * Programs get addresses, not ports: the address of a service exists before the program behind it, and stays when that
 * program is restarted. A connection that comes too early waits.
 */
import { defineApp } from '@evenkeel/workloads'

const health = { readiness: { http: { port: 'http', path: '/healthz' }, periodSeconds: 0.1 } }
const http = [{ name: 'http', env: 'PORT' }]

export const app = defineApp(({ process, task, service }) => {
  const db = process('db', {
    command: ['node', 'programs/database.mjs', 'data/shop.json'],
    ports: http,
    probes: health,
  })
  const database = service('database', { target: db, targetPort: 'http' })
  const env = { DATABASE_URL: database.url }

  const migrate = task('migrate', { command: ['node', 'programs/migrate.mjs'], env, dependsOn: [db] })
  const api = process('api', {
    command: ['node', 'programs/api.mjs'],
    env,
    ports: http,
    probes: health,
    dependsOn: [migrate],
  })
  const orders = service('orders', { target: api, targetPort: 'http' })
  process('worker', { command: ['node', 'programs/worker.mjs'], env, dependsOn: [migrate] })
  const web = process('web', {
    command: ['node', 'programs/web.mjs'],
    env: { API_URL: orders.url },
    ports: http,
    probes: health,
    dependsOn: [api],
  })
  service('shop', { target: web, targetPort: 'http' })
  task('report', { schedule: '0 3 * * *', command: ['node', 'programs/daily-count.mjs'], env })
})
