//! Pixels in memory: pieces put together, small text, PNG.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// sRGB, three bytes a pixel, from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub size: [u32; 2],
    pixels: Vec<[u8; 3]>,
}

/// How large text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Font(RasterHeight);

impl Font {
    /// One that suits a picture of this width.
    pub fn for_width(width: u32) -> Font {
        Font(match width {
            0..900 => RasterHeight::Size16,
            900..1800 => RasterHeight::Size20,
            _ => RasterHeight::Size24,
        })
    }

    /// Of a line, pixels.
    pub fn height(self) -> u32 {
        self.0.val() as u32
    }

    /// Of a text, pixels.
    pub fn width(self, text: &str) -> u32 {
        (get_raster_width(FontWeight::Regular, self.0) * text.chars().count()) as u32
    }
}

impl Image {
    /// One colour.
    pub fn plain(size: [u32; 2], color: [u8; 3]) -> Image {
        Image { size, pixels: vec![color; size[0] as usize * size[1] as usize] }
    }

    /// Pixels of a device; alpha is left out.
    pub fn of_rgba(size: [u32; 2], rgba: &[u8]) -> Image {
        Image { size, pixels: rgba.as_chunks::<4>().0.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect() }
    }

    fn pixel(&mut self, x: i64, y: i64) -> Option<&mut [u8; 3]> {
        let [width, height] = self.size.map(i64::from);
        let inside = (0..width).contains(&x) && (0..height).contains(&y);
        inside.then(|| &mut self.pixels[(y * width + x) as usize])
    }

    /// Puts another picture into this one; what goes over the edge is left out.
    pub fn put(&mut self, part: &Image, [left, top]: [u32; 2]) {
        for (y, row) in part.pixels.chunks_exact(part.size[0].max(1) as usize).enumerate() {
            for (x, color) in row.iter().enumerate() {
                if let Some(pixel) = self.pixel(i64::from(left) + x as i64, i64::from(top) + y as i64) {
                    *pixel = *color;
                }
            }
        }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, corner: [u32; 2], size: [u32; 2], color: [u8; 3]) {
        self.put(&Image::plain(size, color), corner);
    }

    /// One line of text from this corner; what goes over the edge is left out, what the font lacks is a question mark.
    pub fn text(&mut self, text: &str, [left, top]: [u32; 2], font: Font, color: [u8; 3]) {
        for (index, character) in text.chars().enumerate() {
            let raster = |c| get_raster(c, FontWeight::Regular, font.0);
            let Some(glyph) = raster(character).or_else(|| raster('?')) else { continue };
            let first = i64::from(left) + (index * glyph.width()) as i64;
            for (y, row) in glyph.rows().enumerate() {
                for (x, &coverage) in row.iter().enumerate() {
                    if let Some(pixel) = self.pixel(first + x as i64, i64::from(top) + y as i64) {
                        let mix = |under: u8, over: u8| {
                            let (under, over, share) = (u32::from(under), u32::from(over), u32::from(coverage));
                            ((under * (255 - share) + over * share + 127) / 255) as u8
                        };
                        *pixel = [0, 1, 2].map(|i| mix(pixel[i], color[i]));
                    }
                }
            }
        }
    }

    /// A PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.size[0], self.size[1]);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        // Nothing here can fail: the sizes agree, and memory takes every byte.
        let mut writer = encoder.write_header().expect("a size above zero");
        writer.write_image_data(self.pixels.as_flattened()).expect("as many bytes as the size says");
        writer.finish().expect("memory takes every byte");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_over_the_edge_is_cut_off() {
        let mut image = Image::plain([20, 10], [255; 3]);
        image.text("0.25 µm \u{1f600}", [4, 2], Font::for_width(100), [0; 3]);
        let dark = image.pixels.iter().filter(|p| p[0] < 128).count();
        assert!((5..150).contains(&dark), "{dark} dark pixels");
    }

    #[test]
    fn png_reads_back_as_the_same_pixels() {
        let mut image = Image::plain([5, 3], [10, 20, 30]);
        image.fill([1, 1], [2, 5], [200, 100, 0]);
        let bytes = image.png();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (5, 3));
        assert_eq!(&pixels[..info.buffer_size()], image.pixels.as_flattened());
        assert_eq!(image.pixels.iter().filter(|p| p[0] == 200).count(), 4);
    }
}
