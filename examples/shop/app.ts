/**
 * A small shop from objects: a page, an API, a worker, a database, its migration, and a report every night.
 *
 *   web ─▶ api ─▶ database ◀─ worker          migrate: once, before api and worker
 *     └──▶ visits (a container)               left out where no container runtime answers
 *
 *   npx evenkeel run examples/shop/app.ts
 *
 * Programs get addresses, not ports: the address of a service exists before the program behind it, and stays when that
 * program is restarted. A connection that comes too early waits. Paths are relative to this file.
 */
import { defineApp, whyNoContainers } from '@evenkeel/workloads'

const withoutContainers = await whyNoContainers()
if (withoutContainers !== undefined)
  console.error(`shop: the container visits is left out, the page shows no visits: ${withoutContainers}`)
/** Of the container on this machine. */
const visitsPort = 16_379

const health = { readiness: { http: { port: 'http', path: '/healthz' }, periodSeconds: 0.1 } }
const http = [{ name: 'http', env: 'PORT' }]

export const app = defineApp(({ process, task, service, container }) => {
  const db = process('db', {
    command: ['node', 'programs/database.mjs', 'data/shop.json'],
    ports: http,
    probes: health,
  })
  const database = service('database', { target: db, targetPort: 'http' })
  const env = { DATABASE_URL: database.url }

  // Each of its steps runs once, so it may run again: a crash of Evenkeel or of the database is no reason to stop here.
  const migrate = task('migrate', { command: ['node', 'programs/migrate.mjs'], env, dependsOn: [db], retries: 3 })
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
    env: { API_URL: orders.url, ...(withoutContainers === undefined && { VISITS_PORT: visitsPort }) },
    ports: http,
    probes: health,
    dependsOn: [api],
  })
  service('shop', { target: web, targetPort: 'http' })
  // Nothing waits for it: the page is complete without its number.
  if (withoutContainers === undefined)
    container('visits', {
      image: 'redis:7-alpine',
      ports: [{ name: 'redis', containerPort: 6379, hostPort: visitsPort }],
    })
  task('report', { schedule: '0 3 * * *', command: ['node', 'programs/daily-count.mjs'], env })
})
