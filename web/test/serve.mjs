// A file server for web/dist on localhost, where browsers offer WebGPU: `node web/test/serve.mjs [port]`.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Serves a folder, and gives back the server once it listens. */
export function serve(folder, port) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const file = join(folder, path.endsWith(sep) ? join(path, "index.html") : path);
    const size = file.startsWith(folder + sep) ? statSync(file, { throwIfNoEntry: false }) : undefined;
    if (!size?.isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
      "Content-Length": size.size,
      "Cache-Control": "no-store",
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "localhost", () => listening(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 8080);
  await serve(fileURLToPath(new URL("../dist", import.meta.url)), port);
  console.log(`http://localhost:${port}`);
}
