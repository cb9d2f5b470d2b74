// Points drawn by the graphics card (WebGL 2): a hundred thousand in every frame.
// They are added up first, and then shown: the mean colour of those that cover a pixel, the stronger the more they are.

const VERTEX = `#version 300 es
in vec2 place; in float value;
uniform vec2 scale, offset; uniform float size;
out float shade;
void main() { gl_Position = vec4(place * scale + offset, 0, 1); gl_PointSize = size; shade = value; }`;

const FRAGMENT = `#version 300 es
precision highp float;
in float shade; uniform sampler2D palette; uniform vec4 ring; uniform float strength; out vec4 colour;
void main() {
  float edge = 1. - smoothstep(.36, .5, length(gl_PointCoord - .5));
  vec3 own = texture(palette, vec2((shade + .5) / 256., .5)).rgb;
  colour = vec4(mix(own, ring.rgb, ring.a), 1.) * edge * strength;
}`;

const WHOLE = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3. : -1., gl_VertexID == 2 ? 3. : -1., 0, 1); }`;

const SHOWN = `#version 300 es
precision highp float;
uniform sampler2D sum; uniform float most, opacity; uniform vec3 crowded; out vec4 colour;
void main() {
  vec4 all = texelFetch(sum, ivec2(gl_FragCoord.xy), 0);
  if (all.a < .004) discard;
  float crowd = most > 2. ? clamp(log2(max(all.a, 1.)) / log2(most), 0., 1.) : 0.;
  float alpha = opacity * (1. - exp(-1.8 * all.a));
  colour = vec4(mix(all.rgb / all.a, crowded, .62 * crowd), 1.) * alpha;
}`;

/** Return a painter for a canvas; null without WebGL 2. */
export function glPoints(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  const program = gl && linked(gl, VERTEX, FRAGMENT);
  if (!program) return null;
  const layer = gl.getExtension("EXT_color_buffer_float") ? sumLayer(gl) : null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [scale, offset, size, strength, ring] = ["scale", "offset", "size", "strength", "ring"].map(uniform);
  const places = attribute(gl, program, "place", 2, gl.FLOAT);
  const values = attribute(gl, program, "value", 1, gl.UNSIGNED_BYTE);
  const chosen = gl.createBuffer();
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, chosen);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  nearestTexels(gl);
  let n = 0;
  let lit = -1; // number of highlighted points; -1 without a highlight
  let around = null; // the colour of the rings around them

  return {
    kind: "webgl",
    /** Set the coordinates: x, y, x, y, …, each 0 to 1. */
    place(pairs) {
      n = pairs.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.bufferData(gl.ARRAY_BUFFER, pairs, gl.DYNAMIC_DRAW);
    },
    colour(bytes, table) {
      gl.bindBuffer(gl.ARRAY_BUFFER, values);
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    },
    /** Highlight points, with a coloured ring if given, and fade the others; null ends it. */
    light(points, colour = null) {
      lit = points ? points.length : -1;
      around = colour;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(points ?? []), gl.STATIC_DRAW);
    },
    draw(camera) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.blendFunc(gl.ONE, layer ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA);
      layer?.begin(canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(scale, 2 * camera.scaleX, 2 * camera.scaleY);
      gl.uniform2f(offset, -2 * camera.x * camera.scaleX, -2 * camera.y * camera.scaleY);
      gl.uniform1f(size, camera.size);
      gl.uniform4f(ring, 0, 0, 0, 0);
      gl.uniform1f(strength, lit >= 0 && !layer ? 0.16 : 0.8);
      gl.drawArrays(gl.POINTS, 0, n);
      if (layer) {
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        layer.show({ ...camera, opacity: lit >= 0 ? 0.22 : 0.95 });
        gl.useProgram(program);
      }
      if (lit <= 0) return;
      gl.uniform1f(strength, 1);
      if (around) {
        gl.uniform4f(ring, ...around.map((value) => value / 255), 1);
        gl.uniform1f(size, camera.size + 9 * camera.ratio);
        gl.drawElements(gl.POINTS, lit, gl.UNSIGNED_INT, 0);
        gl.uniform4f(ring, 0, 0, 0, 0);
      }
      gl.uniform1f(size, camera.size + 3 * camera.ratio);
      gl.drawElements(gl.POINTS, lit, gl.UNSIGNED_INT, 0);
    },
    /** Wait until all is drawn: to read a pixel takes as long. */
    finish: () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)),
  };
}

/** A layer that adds up what is drawn between `begin` and `show`; null if the card cannot. */
function sumLayer(gl) {
  const program = linked(gl, WHOLE, SHOWN);
  if (!program) return null;
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [sum, most, opacity, crowded] = ["sum", "most", "opacity", "crowded"].map(uniform);
  gl.useProgram(program);
  gl.uniform1i(sum, 1);
  const texture = gl.createTexture();
  const frame = gl.createFramebuffer();
  let size = "";
  return {
    begin(width, height) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      if (size === `${width} ${height}`) return;
      size = `${width} ${height}`;
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, Math.max(1, width), Math.max(1, height), 0, gl.RGBA, gl.HALF_FLOAT, null);
      nearestTexels(gl);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
      gl.activeTexture(gl.TEXTURE0);
    },
    show(camera) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(program);
      gl.uniform1f(most, camera.most);
      gl.uniform1f(opacity, camera.opacity);
      gl.uniform3f(crowded, ...camera.crowded.map((value) => value / 255));
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    },
  };
}

function nearestTexels(gl) {
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
}

function linked(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** The buffer of an attribute of the points. */
function attribute(gl, program, name, width, type) {
  const buffer = gl.createBuffer();
  const location = gl.getAttribLocation(program, name);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(location);
  gl.vertexAttribPointer(location, width, type, false, 0, 0);
  return buffer;
}
