/** The page of the shop. It gets orders from the API, and counts visits in a container, if there is one. */
import { createServer } from 'node:http'
import { connect } from 'node:net'

const { PORT, API_URL, VISITS_PORT } = process.env
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** The number of visits, counted by the container; undefined when it does not answer soon. */
function countVisit() {
  if (!VISITS_PORT) return undefined
  return new Promise((resolve) => {
    const socket = connect(Number(VISITS_PORT), '127.0.0.1', () => socket.write('INCR visits\r\n'))
    const end = (visits) => {
      socket.destroy()
      resolve(visits)
    }
    socket.setTimeout(500, () => end())
    socket.on('error', () => end())
    socket.on('data', (answer) => end(/^:(\d+)/.exec(String(answer))?.[1]))
  })
}

function page(orders, visits) {
  const rows = orders.map(({ id, item, state }) => `<tr><td>${id}<td>${escaped(item)}<td>${escaped(state)}`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="2">
<style>body{font:16px/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}td{padding:.2rem 1rem .2rem 0}</style>
<h1>Shop</h1><form method="post" action="/orders"><input name="item" aria-label="Item" required maxlength="80"> <button>Order</button></form>
<table><tr><th align="left">Order<th align="left">Item<th align="left">State${rows.join('')}</table>${visits ? `<p>${visits} visits` : ''}</html>`
}

async function order(request) {
  let text = ''
  for await (const piece of request) text += piece
  const item = new URLSearchParams(text).get('item') ?? ''
  await fetch(`${API_URL}/orders`, { method: 'POST', body: JSON.stringify({ item }) })
}

const server = createServer(async (request, response) => {
  try {
    if (request.url === '/healthz') return response.end('ok')
    if (request.method === 'POST') {
      await order(request)
      return response.writeHead(303, { location: '/' }).end()
    }
    const orders = await (await fetch(`${API_URL}/orders`)).json()
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(orders, await countVisit()))
  } catch (error) {
    return response.writeHead(502).end(`the API does not answer: ${error.message}\n`)
  }
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`web: http://127.0.0.1:${PORT}`))
process.on('SIGTERM', () => server.close())
process.on('SIGTERM', () => server.closeIdleConnections())
