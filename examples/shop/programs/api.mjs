/** The API of the shop: `GET /orders`, `POST /orders {"item": "..."}`. Its data is in the database. */
import { createServer } from 'node:http'

const { PORT, DATABASE_URL } = process.env
const orders = new URL('/tables/orders', DATABASE_URL)

async function readOrder(request) {
  let text = ''
  for await (const piece of request) {
    text += piece
    if (text.length > 10_000) return undefined
  }
  try {
    const { item } = JSON.parse(text)
    return typeof item === 'string' && item !== '' ? { item, state: 'paid' } : undefined
  } catch {
    return undefined
  }
}

async function answer(request) {
  if (request.url === '/healthz') return { status: 200, body: 'ok' }
  if (request.url !== '/orders') return { status: 404, body: { error: `there is no ${request.url}` } }
  if (request.method === 'GET') return { status: 200, body: await (await fetch(orders)).json() }
  const order = await readOrder(request)
  if (!order) return { status: 400, body: { error: 'an order is {"item": "..."}' } }
  const row = await (await fetch(orders, { method: 'POST', body: JSON.stringify(order) })).json()
  console.log(`api: order ${row.id}, ${row.item}`)
  return { status: 201, body: row }
}

const server = createServer(async (request, response) => {
  const { status, body } = await answer(request).catch((error) => ({ status: 502, body: { error: error.message } }))
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`api: port ${PORT}`))
process.on('SIGTERM', () => server.close())
process.on('SIGTERM', () => server.closeIdleConnections())
