/**
 * A stand-in for a database: tables of JSON rows in one file, over HTTP on loopback.
 *
 *   GET  /tables/orders            all rows
 *   POST /tables/orders            adds a row, which gets an id
 *   PUT  /tables/orders/3          replaces a row
 *   GET  /schema, PUT /schema      the version that migrations have reached
 *
 * Usage: node database.mjs FILE, with its port in PORT.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'

const [file = 'database.json'] = process.argv.slice(2)
mkdirSync(dirname(file), { recursive: true })
const data = read()

function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw new Error(`${file} is no database: move it away`, { cause: error })
    return { schema: 0, tables: {} }
  }
}

/** A reader of the file sees the old content or the new one. */
function save() {
  writeFileSync(`${file}.new`, JSON.stringify(data))
  renameSync(`${file}.new`, file)
}

function answer(method, path, body) {
  const [, area, name, id] = path.split('/')
  if (area === 'healthz') return 'ok'
  if (area === 'schema') {
    if (method === 'PUT') {
      data.schema = body.version
      save()
    }
    return { version: data.schema }
  }
  if (area !== 'tables' || !name) return undefined
  const rows = (data.tables[name] ??= [])
  if (method === 'GET') return rows
  const row = method === 'POST' ? { ...body, id: rows.length + 1 } : { ...body, id: Number(id) }
  if (!Number.isInteger(row.id) || row.id < 1 || row.id > rows.length + 1) return undefined
  rows[row.id - 1] = row
  save()
  return row
}

const server = createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const result = answer(request.method, request.url, text === '' ? undefined : JSON.parse(text))
  response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(result ?? { error: `there is no ${request.method} ${request.url}` }))
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(`database: ${file}, port ${process.env.PORT}`))
process.on('SIGTERM', () => server.close(() => console.log('database: closed')))
process.on('SIGTERM', () => server.closeAllConnections())
